"""An all-reduce of two shots: each rank adds up its share, and writes the sum to everyone."""

import os

import torch

if __name__ == "__main__":
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("Triton's interpreter runs the kernel on the CPU, whether there is a GPU or not.")

# --8<-- [start:imports]
import triton
import triton.language as tl

from kernels.tools.forked import in_processes, places, shared
from kernels.tools.meeting import LIMIT, meet, of_rank
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def several_two_shot_kernel(
    places_ptr, flags_ptr, missing_ptr, x_ptr, n_elements, rank, limit, WORLD: tl.constexpr, BLOCK: tl.constexpr
):
    n_blocks = tl.cdiv(n_elements, BLOCK)
    share = tl.cdiv(n_blocks, WORLD)  # the blocks of one rank
    meet(flags_ptr, missing_ptr, rank, limit, WORLD)
    for block in range(rank * share + tl.program_id(0).to(tl.int64), min((rank + 1) * share, n_blocks), tl.num_programs(0)):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n_elements
        total = tl.zeros((BLOCK,), tl.float32)
        for peer in tl.static_range(WORLD):  # the first shot: my share of everyone's
            total += tl.load(of_rank(places_ptr, peer, x_ptr) + offsets, mask=mask).to(tl.float32)
        for peer in tl.static_range(WORLD):  # the second: its sum to everyone
            tl.store(of_rank(places_ptr, peer, x_ptr) + offsets, total, mask=mask)
    meet(flags_ptr, missing_ptr, rank, limit, WORLD)
# --8<-- [end:kernel]


# --8<-- [start:launch]
def two_shot(x_places, flags, missing, x, rank, world, programs=1, block=256, limit=LIMIT, **options):
    """Every rank's x becomes the sum of all of them."""
    launch = several_two_shot_kernel[(programs,)]
    launch(x_places, flags, missing, x, x.numel(), rank, limit, WORLD=world, BLOCK=block, **options)
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:run]
    world = 4
    x = shared(world, 1000)
    flags, missing = shared(world, world, dtype=torch.int32), shared(world, world, dtype=torch.int32)
    for rank in range(world):
        x[rank] = torch.randn(1000, generator=torch.Generator().manual_seed(rank))
    expected = x.sum(0)

    def run(rank):
        two_shot(places(x), places(flags), missing[rank], x[rank], rank, world, block=64)

    in_processes(world, run)
    print("the sum:", torch.allclose(x[0], expected, atol=1e-5), "the same bits:", bool((x == x[0]).all()))
    #> the sum: True the same bits: True
    # --8<-- [end:run]
