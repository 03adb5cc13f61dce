"""A column and a row of offsets make a tile: shapes and values, as the kernel has them."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:broadcast]
@triton.jit
def show_offsets_kernel(shapes_ptr, tile_ptr, stride):
    rows = tl.arange(0, 2)[:, None]
    columns = tl.arange(0, 4)[None, :]
    offsets = rows * stride + columns
    for i in tl.static_range(2):
        tl.store(shapes_ptr + i, rows.shape[i])
        tl.store(shapes_ptr + 2 + i, columns.shape[i])
        tl.store(shapes_ptr + 4 + i, offsets.shape[i])
    tl.store(tile_ptr + rows * 4 + columns, offsets)


device = "cuda" if torch.cuda.is_available() else "cpu"
shapes = torch.zeros(3, 2, dtype=torch.int32, device=device)
tile = torch.zeros(2, 4, dtype=torch.int32, device=device)
show_offsets_kernel[(1,)](shapes, tile, 100)
print("rows, columns, offsets:", shapes.tolist())
#> rows, columns, offsets: [[2, 1], [1, 4], [2, 4]]
print(tile.tolist())
#> [[0, 1, 2, 3], [100, 101, 102, 103]]
# --8<-- [end:broadcast]
