"""Load, store, and the atomic operations."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:access]
import torch
import triton
import triton.language as tl


@triton.jit
def access_kernel(x_ptr, out_ptr, n):
    i = tl.arange(0, 8)
    x = tl.load(x_ptr + i, mask=i < n, other=-1)  # reads nothing where the mask is false, and has -1 there
    tl.store(out_ptr + i, x, mask=i < n + 1)  # writes nothing where it is false


@triton.jit
def atomics_kernel(cells_ptr, before_ptr):
    pid = tl.program_id(0)
    tl.atomic_add(cells_ptr, pid)
    tl.atomic_max(cells_ptr + 1, pid)
    tl.atomic_min(cells_ptr + 2, pid)
    tl.atomic_or(cells_ptr + 3, 1 << pid)
    tl.atomic_and(cells_ptr + 4, ~(1 << pid))
    tl.atomic_xor(cells_ptr + 5, 1)
    before = tl.atomic_xchg(cells_ptr + 6, pid)  # every atomic returns what it found
    tl.store(before_ptr + pid, before)
    tl.atomic_cas(cells_ptr + 7, 0, pid + 1)  # only where it finds 0


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.arange(100, 108, device=device)
out = torch.zeros_like(x)
access_kernel[(1,)](x, out, 5)
print("load, store", out.tolist())
#> load, store [100, 101, 102, 103, 104, -1, 0, 0]
cells = torch.tensor([0, -1, 99, 0, 255, 0, -1, 0], dtype=torch.int32, device=device)
before = torch.empty(4, dtype=torch.int32, device=device)
atomics_kernel[(4,)](cells, before)
for name, cell in zip(("add", "max", "min", "or", "and", "xor"), cells.tolist(), strict=False):
    print(f"atomic_{name:4}", cell)
    #> atomic_add  6
    #> atomic_max  3
    #> atomic_min  0
    #> atomic_or   15
    #> atomic_and  240
    #> atomic_xor  0
found = sorted([*before.tolist(), cells[6].item()])
print("atomic_xchg", found)  # each number was found once, in whatever order the programs came
#> atomic_xchg [-1, 0, 1, 2, 3]
print("atomic_cas ", cells[7].item() in (1, 2, 3, 4))  # one program was the first
#> atomic_cas  True
# --8<-- [end:access]
