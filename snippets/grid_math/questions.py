"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def write_pair(out_ptr, M, N, LOOSE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    down, across = tl.program_id(0), tl.program_id(1)
    rows = down * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = across * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    offsets = rows * N + columns
    mask = offsets < M * N if LOOSE else (rows < M) & (columns < N)
    tl.atomic_add(out_ptr + offsets, 1 if LOOSE else 10 * down + across, mask=mask)


@triton.jit
def copy_tile(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + rows + columns * stride)
    tl.store(out_ptr + rows * stride + columns, x)


def written(loose):
    out = torch.zeros(5, 10, dtype=torch.int32, device=device)
    write_pair[(3, 3)](out, 5, 10, LOOSE=loose, BLOCK_M=2, BLOCK_N=4)
    return out


device = "cuda" if torch.cuda.is_available() else "cpu"
print(f"owner: {divmod(written(loose=False)[3, 9].item(), 10)}")
print(f"loose_mask: {'twice' if (written(loose=True) > 1).any() else 'once'}")

x = torch.arange(64.0, device=device).view(8, 8)
out = torch.empty_like(x)
copy_tile[(1,)](x, out, 8, BLOCK=8)
print(f"swapped: {'transposed' if torch.equal(out, x.T) else 'same' if torch.equal(out, x) else 'other'}")
