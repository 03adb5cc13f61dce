"""Bank conflicts by hand: one tile transposed through shared memory in Gluon, under layouts that exchange its words or do not."""
# --8<-- [start:imports]
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.runtime import driver

from kernels.tools.compile_only import NoGPU
# --8<-- [end:imports]


# --8<-- [start:kernel]
@gluon.jit
def transpose_tile_kernel(x_ptr, out_ptr, n, EXCHANGED: gl.constexpr, num_warps: gl.constexpr):
    # This program transposes one tile of 32 by 32. A warp holds a row of it at a time, one number a lane.
    rows: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [num_warps, 1], [1, 0])
    places: gl.constexpr = gl.SwizzledSharedLayout(1, 1, EXCHANGED, [1, 0])
    down = gl.arange(0, 32, gl.SliceLayout(1, rows))[:, None]
    across = gl.arange(0, 32, gl.SliceLayout(0, rows))[None, :]
    top, left = gl.program_id(0) * 32, gl.program_id(1) * 32
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], places)
    tile.store(gl.load(x_ptr + (top + down) * n + left + across))
    columns = tile.permute([1, 0]).load(rows)  # a warp wants a column of what lies there
    gl.store(out_ptr + (left + down) * n + top + across, columns)


def transposed(x, exchanged):
    """x transposed, for a square float32 matrix with a multiple of 32 rows."""
    out = torch.empty_like(x)
    tiles = x.shape[0] // 32
    transpose_tile_kernel[(tiles, tiles)](x, out, x.shape[0], EXCHANGED=exchanged, num_warps=4)
    return out
# --8<-- [end:kernel]


# --8<-- [start:turns]
def turns(exchanged, column=5):
    """The turns that a column takes: as many as it has numbers in one bank."""
    places = [32 * row + (column ^ (row % exchanged)) for row in range(32)]
    banks = [place % 32 for place in places]
    return max(banks.count(bank) for bank in banks)
# --8<-- [end:turns]


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("No CUDA device found: the kernel is compiled and not run. Gluon has no interpreter.")
    # --8<-- [start:compile]
    if not torch.cuda.is_available():
        driver.set_active(NoGPU())
    x = torch.empty(256, 256, device="cuda" if torch.cuda.is_available() else "cpu")
    for exchanged in (1, 2, 8, 32):
        made = transpose_tile_kernel.warmup(x, x, 256, EXCHANGED=exchanged, num_warps=4, grid=(1,))
        loads = made.asm["ptx"].count("ld.shared")
        print(f"EXCHANGED={exchanged}: {loads} loads a warp, turns for each: {turns(exchanged)}")
        #> EXCHANGED=1: 8 loads a warp, turns for each: 32
        #> EXCHANGED=2: 8 loads a warp, turns for each: 16
        #> EXCHANGED=8: 8 loads a warp, turns for each: 4
        #> EXCHANGED=32: 8 loads a warp, turns for each: 1
    # --8<-- [end:compile]
    if torch.cuda.is_available():
        x.normal_()
        for exchanged in (1, 2, 8, 32):
            assert torch.equal(transposed(x, exchanged), x.mT)
        print("transposed: True")
