"""A kernel reads what lies on its neighbor: a table of addresses, a meeting before it, and one after it."""

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
def several_neighbor_kernel(
    places_ptr, flags_ptr, missing_ptr, out_ptr, n_elements, rank, limit, WORLD: tl.constexpr, BLOCK: tl.constexpr
):
    meet(flags_ptr, missing_ptr, rank, limit, WORLD)  # the neighbor has written
    x_ptr = of_rank(places_ptr, (rank + 1) % WORLD, out_ptr)
    for block in range(tl.program_id(0).to(tl.int64), tl.cdiv(n_elements, BLOCK), tl.num_programs(0)):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n_elements
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)
    meet(flags_ptr, missing_ptr, rank, limit, WORLD)  # nobody reads any more: all may write again
# --8<-- [end:kernel]


# --8<-- [start:launch]
def neighbor(x_places, flags, missing, out, rank, world, programs=1, block=256, limit=LIMIT, **options):
    launch = several_neighbor_kernel[(programs,)]
    launch(x_places, flags, missing, out, out.numel(), rank, limit, WORLD=world, BLOCK=block, **options)
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:run]
    world = 3
    x, out = shared(world, 1000), shared(world, 1000)
    flags, missing = shared(world, world, dtype=torch.int32), shared(world, world, dtype=torch.int32)

    def run(rank):
        x[rank] = rank + 1
        neighbor(places(x), places(flags), missing[rank], out[rank], rank, world)

    in_processes(world, run)
    print("each rank found:", [row.unique().tolist() for row in out])
    #> each rank found: [[2.0], [3.0], [1.0]]
    # --8<-- [end:run]
