"""A grid rounded down in both dimensions: the last rows and columns are never written."""
# sanitizer: memcheck
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:short_grid]
@triton.jit
def increment_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    offsets = rows[:, None] * N + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + 1, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
for n in (96, 100):
    x = torch.rand(n, n, device=device)
    wrong, right = (n // 32, n // 32), (triton.cdiv(n, 32), triton.cdiv(n, 32))
    for name, grid in (("wrong", wrong), ("right", right)):
        reused = x + 1  # memory that happens to hold the answer
        filled = torch.full_like(x, float("nan"))
        for out in (reused, filled):
            increment_kernel[grid](x, out, n, n, BLOCK=32)
        equal, unwritten = torch.equal(reused, x + 1), int(filled.isnan().sum())
        print(f"{n} {name}: equal {equal}, never written {unwritten}")
        #> 96 wrong: equal True, never written 0
        #> 96 right: equal True, never written 0
        #> 100 wrong: equal True, never written 784
        #> 100 right: equal True, never written 0
# --8<-- [end:short_grid]
