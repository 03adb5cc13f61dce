"""NCCL's collectives, from short messages to long ones: how long, and how many bytes a second over each GPU's link."""
# needs: 2 gpus
import os
import sys

import torch

if torch.cuda.device_count() < 2:
    if os.environ.get("RANK", "0") != "0":
        sys.exit()  # the first one speaks for all
    print("needs: 2 gpus (NVIDIA GPUs of one machine that PyTorch can use)")
    sys.exit(2)

import torch.distributed as dist

from kernels.tools.benchmark import keep
from kernels.tools.several import timed_together, together

SIZES = [2**power for power in (14, 17, 20, 23, 27)]


# --8<-- [start:collectives]
def collectives(world, nbytes):
    """Each collective on a whole of so many bytes, and the bytes that one GPU must receive at least."""
    whole = torch.ones(nbytes // 2, device="cuda", dtype=torch.bfloat16)
    part = torch.ones(nbytes // 2 // world, device="cuda", dtype=torch.bfloat16)
    others = nbytes * (world - 1) // world
    return {
        "all_reduce": (lambda: dist.all_reduce(whole), 2 * others),
        "all_gather": (lambda: dist.all_gather_into_tensor(whole, part), others),
        "reduce_scatter": (lambda: dist.reduce_scatter_tensor(part, whole), others),
    }
# --8<-- [end:collectives]


def main(rank, world):
    kept = {}
    for nbytes in SIZES:
        ways = collectives(world, nbytes)
        found = timed_together({name: function for name, (function, _) in ways.items()})
        kept[str(nbytes)] = {name: {"us": ms * 1e3, "gbps": ways[name][1] / ms / 1e6} for name, ms in found.items()}
        if rank == 0:
            times = (f"{name} {row['us']:8.1f} us" for name, row in kept[str(nbytes)].items())
            print(f"{nbytes:>11,} bytes ", *times, sep="  ")
    if rank == 0:
        keep(figures={"world": world, "gpu": torch.cuda.get_device_name(), "sizes": kept})


together(main)
