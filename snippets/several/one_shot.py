"""An all-reduce of one shot: every rank reads everything, and adds it up itself."""

import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

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
def several_one_shot_kernel(
    places_ptr, flags_ptr, missing_ptr, out_ptr, n_elements, rank, limit, WORLD: tl.constexpr, BLOCK: tl.constexpr
):
    meet(flags_ptr, missing_ptr, rank, limit, WORLD)
    for block in range(tl.program_id(0).to(tl.int64), tl.cdiv(n_elements, BLOCK), tl.num_programs(0)):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n_elements
        total = tl.zeros((BLOCK,), tl.float32)
        for peer in tl.static_range(WORLD):  # in the same order everywhere, so all get the same bits
            total += tl.load(of_rank(places_ptr, peer, out_ptr) + offsets, mask=mask).to(tl.float32)
        tl.store(out_ptr + offsets, total, mask=mask)
    meet(flags_ptr, missing_ptr, rank, limit, WORLD)
# --8<-- [end:kernel]


# --8<-- [start:launch]
def one_shot(x_places, flags, missing, out, rank, world, programs=1, block=256, limit=LIMIT, **options):
    """The sum of every rank's x, in `out`, which is a tensor of this rank alone."""
    launch = several_one_shot_kernel[(programs,)]
    launch(x_places, flags, missing, out, out.numel(), rank, limit, WORLD=world, BLOCK=block, **options)
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:run]
    world = 4
    x, out = shared(world, 1000), shared(world, 1000)
    flags, missing = shared(world, world, dtype=torch.int32), shared(world, world, dtype=torch.int32)

    def run(rank):
        x[rank] = torch.randn(1000, generator=torch.Generator().manual_seed(rank))
        one_shot(places(x), places(flags), missing[rank], out[rank], rank, world)

    in_processes(world, run)
    print("the sum:", torch.allclose(out[0], x.sum(0), atol=1e-5), "the same bits:", bool((out == out[0]).all()))
    #> the sum: True the same bits: True
    # --8<-- [end:run]
