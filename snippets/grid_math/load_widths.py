"""How wide are the loads of a tile, for a new matrix and for views of it?"""
# --8<-- [start:re]
import re
# --8<-- [end:re]

import torch
import triton
import triton.language as tl

# --8<-- [start:compile_only]
from kernels.tools.compile_only import compile_only
# --8<-- [end:compile_only]

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:load_widths]
@triton.jit
def copy_view_kernel(
    x_ptr, out_ptr, n_rows, n_columns, row_stride, column_stride, BLOCK: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (rows < n_rows) & (columns < n_columns)
    x = tl.load(x_ptr + rows * row_stride + columns * column_stride, mask=mask)
    tl.store(out_ptr + rows * n_columns + columns, x, mask=mask)


x = torch.zeros(640, 640)
views = {
    "x": x,
    "x.T": x.T,
    "x[:, ::2]": x[:, ::2],
    "x[:, 7:]": x[:, 7:],
    "600 by 601": torch.zeros(600, 601),
}
for name, view in views.items():
    numbers = *view.shape, *view.stride()
    compiled = compile_only(copy_view_kernel, view, x, *numbers, BLOCK=64)
    found = re.findall(r"ld\.global\.(?:v(\d)\.)?b32", compiled.asm["ptx"])
    print(f"{name:11} strides {view.stride()!s:9} {4 * int(found[0] or 1):2} bytes a load")
    #> x           strides (640, 1)  16 bytes a load
    #> x.T         strides (1, 640)  16 bytes a load
    #> x[:, ::2]   strides (640, 2)   4 bytes a load
    #> x[:, 7:]    strides (640, 1)   4 bytes a load
    #> 600 by 601  strides (601, 1)   4 bytes a load
# --8<-- [end:load_widths]
