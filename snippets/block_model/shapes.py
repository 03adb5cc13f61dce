"""A block is a value with a shape and a dtype: look at one of each dimension, and ask the compiler for their types."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]


# --8<-- [start:shapes]
@triton.jit
def coordinates_kernel(line_ptr, tile_ptr, cube_ptr):
    i = tl.arange(0, 2)  # [2]
    j = tl.arange(0, 4)  # [4]
    tl.store(line_ptr + j, j)
    tile = 10 * i[:, None] + j[None, :]  # [2, 4]
    spots = 4 * i[:, None] + j[None, :]  # [2, 4]
    tl.store(tile_ptr + spots, tile)
    cube = 100 * i[:, None, None] + tile[None, :, :]  # [2, 2, 4]
    spots = 8 * i[:, None, None] + spots[None, :, :]  # [2, 2, 4]
    tl.store(cube_ptr + spots, cube)


device = "cuda" if torch.cuda.is_available() else "cpu"
shapes = (4,), (2, 4), (2, 2, 4)
line, tile, cube = (torch.full(shape, -1, device=device) for shape in shapes)
coordinates_kernel[(1,)](line, tile, cube)
print(line.tolist())
#> [0, 1, 2, 3]
print(tile.tolist())
#> [[0, 1, 2, 3], [10, 11, 12, 13]]
print(cube.tolist()[1])
#> [[100, 101, 102, 103], [110, 111, 112, 113]]
# --8<-- [end:shapes]

# --8<-- [start:imports]
import re

from triton.backends.compiler import GPUTarget
from triton.runtime import JITFunction, driver
# --8<-- [end:imports]

# --8<-- [start:compile_only]
from kernels.tools.compile_only import compile_only
# --8<-- [end:compile_only]

# --8<-- [start:types]
compiled = compile_only(coordinates_kernel, line, tile, cube)
print(" -> ".join(compiled.asm))
#> source -> ttir -> ttgir -> llir -> ptx -> cubin
ttir = compiled.asm["ttir"]
integers = set(re.findall(r"tensor<([\dx]+)xi32>", ttir))
print("integers: ", *sorted(integers, key=lambda shape: (len(shape), shape)))
#> integers:  2 4 1x4 2x1 2x4 1x2x4 2x1x1 2x2x4
addresses = set(re.findall(r"tensor<([\dx]+)x!tt\.ptr<i64>>", ttir))
print("addresses:", *sorted(addresses, key=lambda shape: (len(shape), shape)))
#> addresses: 4 2x4 2x2x4
# --8<-- [end:types]
