"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def sum_as_if_packed(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_columns + columns, mask=columns < n_columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


@triton.jit
def copy_swapped(x_ptr, out_ptr, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(out_ptr + rows * N + columns, tl.load(x_ptr + rows + columns * N))


@triton.jit
def widen_too_late(pid_ptr, out_ptr, BLOCK: tl.constexpr):
    pid = tl.load(pid_ptr)  # 32 bits, as tl.program_id is
    tl.store(out_ptr, (pid * BLOCK).to(tl.int64))


def swapped(x):
    out = torch.empty_like(x)
    copy_swapped[(1,)](x, out, N=64)
    return out


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(8, 200, device=device)[:, :100]
out = torch.empty(8, device=device)
sum_as_if_packed[(8,)](x, out, 100, BLOCK=128)
print(f"right_rows: {torch.isclose(out, x.sum(1)).sum().item()}")

inputs = {"ones": torch.ones(64, 64), "eye": torch.eye(64), "arange": torch.arange(4096.0).view(64, 64)}
for name, x in inputs.items():
    x = x.to(device)
    if not torch.equal(swapped(x), x):
        print(f"finds: {name}")

out = torch.empty(1, dtype=torch.int64, device=device)
widen_too_late[(1,)](torch.tensor([40_000], dtype=torch.int32, device=device), out, BLOCK=65_536)
print(f"offset: {out.item():,}")
