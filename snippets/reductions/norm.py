"""The exercise's solution: the norm of a whole array, the root taken by the program that finishes last."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:norm]
@triton.jit
def row_length_kernel(
    x_ptr, out_ptr, partial_ptr, arrived_ptr, n_elements,
    BLOCK: tl.constexpr, PROGRAMS: tl.constexpr,
):
    pid = tl.program_id(0).to(tl.int64)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(pid * BLOCK, n_elements, PROGRAMS * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0).to(tl.float32)
        squares += x * x
    tl.store(partial_ptr + pid, tl.sum(squares, axis=0))
    if tl.atomic_add(arrived_ptr, 1) == PROGRAMS - 1:
        total = tl.sum(tl.load(partial_ptr + tl.arange(0, PROGRAMS)), axis=0)
        tl.store(out_ptr, tl.sqrt(total))  # of the sum, not of a part
        tl.store(arrived_ptr, 0)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(70_000, device=device)
out, partial = torch.empty((), device=device), torch.empty(16, device=device)
arrived = torch.zeros((), dtype=torch.int32, device=device)
for _ in range(2):
    row_length_kernel[(16,)](x, out, partial, arrived, 70_000, BLOCK=1024, PROGRAMS=16)
    torch.testing.assert_close(out, torch.linalg.vector_norm(x))
print("one launch, and again")
#> one launch, and again
# --8<-- [end:norm]
