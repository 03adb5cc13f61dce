"""A rank that does not come: the wait has an end, and says who was missing."""
import os

import torch

os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
print("Triton's interpreter runs the kernel on the CPU, whether there is a GPU or not.")

# --8<-- [start:imports]
from kernels.tools.forked import in_processes, places, shared
# --8<-- [end:imports]
from snippets.several.one_shot import one_shot

# --8<-- [start:absent]
world = 3
x, out = shared(world, 100), shared(world, 100)
flags, missing = shared(world, world, dtype=torch.int32), shared(world, world, dtype=torch.int32)


def run(rank):
    if rank != 1:  # rank 1 ends before it has met the others
        one_shot(places(x), places(flags), missing[rank], out[rank], rank, world, limit=500)


in_processes(world, run)
for rank in (0, 2):
    print(f"rank {rank} waited for rank 1 in vain:", bool(missing[rank, 1]))
    #> rank 0 waited for rank 1 in vain: True
    #> rank 2 waited for rank 1 in vain: True
# --8<-- [end:absent]
