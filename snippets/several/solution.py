"""The exercise solved: the first shot of two, whose sum each rank keeps."""
import os

import torch

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
def several_reduce_scatter_kernel(
    places_ptr, flags_ptr, missing_ptr, out_ptr, n_share, rank, limit, WORLD: tl.constexpr, BLOCK: tl.constexpr
):
    meet(flags_ptr, missing_ptr, rank, limit, WORLD)
    for block in range(tl.program_id(0).to(tl.int64), tl.cdiv(n_share, BLOCK), tl.num_programs(0)):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n_share
        total = tl.zeros((BLOCK,), tl.float32)
        for peer in tl.static_range(WORLD):
            x_ptr = of_rank(places_ptr, peer, out_ptr) + rank * n_share
            total += tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
        tl.store(out_ptr + offsets, total, mask=mask)
    meet(flags_ptr, missing_ptr, rank, limit, WORLD)
# --8<-- [end:kernel]


# --8<-- [start:run]
world = 4
x, out = shared(world, 1000), shared(world, 250)
flags, missing = shared(world, world, dtype=torch.int32), shared(world, world, dtype=torch.int32)
torch.manual_seed(0)
x.copy_(torch.randn(world, 1000))


def run(rank):
    tables = places(x), places(flags), missing[rank], out[rank]
    several_reduce_scatter_kernel[(1,)](*tables, 250, rank, LIMIT, WORLD=world, BLOCK=64)


in_processes(world, run)
print("each share is right:", torch.allclose(out.flatten(), x.sum(0), atol=1e-5))
#> each share is right: True
# --8<-- [end:run]
