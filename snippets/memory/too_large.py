"""What goes wrong when a tile is too large for the chip: the launch is refused, or the kernel is slow."""
# needs: cuda
import sys
import textwrap

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


# --8<-- [start:too_large]
@triton.jit
def large_tile_kernel(x_ptr, out_ptr, TILE: tl.constexpr):
    i, j = tl.arange(0, TILE)[:, None], tl.arange(0, TILE)[None, :]
    tile = tl.load(x_ptr + i * TILE + j)
    tl.store(out_ptr + i * TILE + j, tl.trans(tile))


for tile in (128, 256):
    x = torch.randn(tile, tile, device="cuda")
    out = torch.empty_like(x)
    try:
        large_tile_kernel[(1,)](x, out, TILE=tile, num_warps=32)
        print(f"a tile of side {tile}: turned, {torch.equal(out, x.T)}")
    except triton.runtime.errors.OutOfResources as error:
        print(f"a tile of side {tile}:", *textwrap.wrap(str(error), 80), sep="\n    ")
# --8<-- [end:too_large]
