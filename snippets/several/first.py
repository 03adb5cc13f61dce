"""A process on each GPU, and the first sum that they make together."""
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

# --8<-- [start:first]
import torch
import torch.distributed as dist

from kernels.tools.several import together


def main(rank, world):
    x = torch.full((4,), rank + 1.0, device="cuda")
    dist.all_reduce(x)
    for turn in range(world):  # one after another
        if turn == rank:
            print(f"rank {rank} of {world} on cuda:{torch.cuda.current_device()} has {x.tolist()}", flush=True)
        dist.barrier()
# --8<-- [end:first]


together(main)
if os.environ["RANK"] == "0":
    keep(figures={"world": int(os.environ["WORLD_SIZE"])})
