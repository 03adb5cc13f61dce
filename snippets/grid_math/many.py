"""The exercise's solution: more matrices than the third axis of a grid can hold."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:many]
@triton.jit
def folded_kernel(
    x_ptr, out_ptr, n_rows, n_columns, tiles_down, tiles_across,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid = tl.program_id(0).to(tl.int64)
    across = pid % tiles_across
    down = pid // tiles_across % tiles_down
    matrix = pid // (tiles_across * tiles_down)
    rows = down * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = across * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    offsets = (matrix * n_rows + rows) * n_columns + columns
    mask = (rows < n_rows) & (columns < n_columns)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
batch = 100_000 if device == "cuda" else 20  # the interpreter is slow
x = torch.randn(batch, 10, 40, device=device)
out = torch.full_like(x, float("nan"))
tiles_down, tiles_across = triton.cdiv(10, 8), triton.cdiv(40, 32)
grid = (batch * tiles_down * tiles_across,)
folded_kernel[grid](x, out, 10, 40, tiles_down, tiles_across, BLOCK_M=8, BLOCK_N=32)
print("right:", torch.equal(out, x + 1))
#> right: True
# --8<-- [end:many]
