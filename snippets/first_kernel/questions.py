"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def write_owner(out_ptr, n_elements, USE_PID: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    if USE_PID:
        offsets += pid * BLOCK
    tl.store(out_ptr + offsets, pid, mask=offsets < n_elements)


def owners(grid, use_pid=True):
    out = torch.full((1000,), -1, device="cuda" if torch.cuda.is_available() else "cpu")
    write_owner[(grid,)](out, 1000, USE_PID=use_pid, BLOCK=256)
    return out


print(f"owner: {owners(4)[700].item()}")
print(f"fifth: {'same' if torch.equal(owners(5), owners(4)) else 'other'}")
print(f"no_pid: {(owners(4, use_pid=False) >= 0).sum().item()}")
