"""One kernel, many layouts: strides say where the next row and the next column are."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:views]
@triton.jit
def negate_view_kernel(
    x_ptr, out_ptr, n_rows, n_columns, row_stride, column_stride, BLOCK: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (rows < n_rows) & (columns < n_columns)
    x = tl.load(x_ptr + rows * row_stride + columns * column_stride, mask=mask)
    tl.store(out_ptr + rows * n_columns + columns, -x, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(40, 60, device=device)
views = {
    "x": x,
    "x.T": x.T,
    "x[:, ::2]": x[:, ::2],
    "x[5:25, 7:]": x[5:25, 7:],
    "one row, 30 times": x[0].expand(30, 60),
}
for name, view in views.items():
    out = torch.full(view.shape, float("nan"), device=device)
    grid = (triton.cdiv(view.shape[0], 16), triton.cdiv(view.shape[1], 16))
    negate_view_kernel[grid](view, out, *view.shape, *view.stride(), BLOCK=16)
    assert torch.equal(out, -view)
    print(f"{name:18} shape {tuple(view.shape)}  strides {view.stride()}")
    #> x                  shape (40, 60)  strides (60, 1)
    #> x.T                shape (60, 40)  strides (1, 60)
    #> x[:, ::2]          shape (40, 30)  strides (60, 2)
    #> x[5:25, 7:]        shape (20, 53)  strides (60, 1)
    #> one row, 30 times  shape (30, 60)  strides (0, 1)
# --8<-- [end:views]
