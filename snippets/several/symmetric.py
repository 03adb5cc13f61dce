"""Symmetric memory: every rank has some, and a kernel of each reads its neighbor's."""
# needs: 2 gpus
import os
import sys

import torch

if torch.cuda.device_count() < 2:
    if os.environ.get("RANK", "0") != "0":
        sys.exit()  # the first one speaks for all
    print("needs: 2 gpus (NVIDIA GPUs of one machine that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from kernels.tools.several import symmetric, together
from snippets.several.neighbor import neighbor


# --8<-- [start:symmetric]
def main(rank, world):
    x, handle, x_places = symmetric((1000,), torch.float32)
    flags, _, flags_places = symmetric((world,), torch.int32)  # of one program
    out, missing = torch.empty_like(x), torch.zeros(world, dtype=torch.int32, device="cuda")
    x.fill_(rank + 1)
    neighbor(x_places, flags_places, missing, out, rank, world)
    assert (out == (rank + 1) % world + 1).all() and not missing.any()
    if rank == 0:
        print(f"rank 0 found {out.unique().tolist()} on rank 1, by a load")
# --8<-- [end:symmetric]


together(main)
if os.environ["RANK"] == "0":
    keep(figures={"world": int(os.environ["WORLD_SIZE"])})
