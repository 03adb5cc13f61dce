"""What a link carries: copies from a neighbor's memory, by the copy engine and by a kernel, one way and all at once."""
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
from kernels.tools.several import symmetric, timed_together, together
from snippets.several.neighbor import neighbor

SIZES = [2**power for power in (14, 17, 20, 23, 26, 29)]


# --8<-- [start:ways]
def ways_of(rank, world, nbytes):
    """Copies of the next rank's bytes, each for rank 0 alone and for all ranks at once."""
    x, handle, x_places = symmetric((nbytes // 4,), torch.float32)
    programs = torch.cuda.get_device_properties("cuda").multi_processor_count
    flags, _, flags_places = symmetric((programs * world,), torch.int32)
    missing = torch.zeros(world, dtype=torch.int32, device="cuda")
    x.fill_(rank + 1)
    out = torch.empty_like(x)
    theirs = handle.get_buffer((rank + 1) % world, x.shape, x.dtype)
    options = {"programs": programs, "block": 4096, "num_warps": 16}

    def by_kernel(out):
        neighbor(x_places, flags_places, missing, out, rank, world, **options)

    ways = {
        "engine, one way": lambda: out.copy_(theirs) if rank == 0 else None,
        "engine, all": lambda: out.copy_(theirs),
        "kernel, one way": lambda: by_kernel(out if rank == 0 else out[:0]),
        "kernel, all": lambda: by_kernel(out),
    }
    return ways, out, missing, (x, flags)  # the last are held while others read them
# --8<-- [end:ways]


def main(rank, world):
    kept = {}
    for nbytes in SIZES:
        ways, out, missing, held = ways_of(rank, world, nbytes)
        for name in ("engine, all", "kernel, all"):
            out.zero_()
            torch.cuda.synchronize()
            dist.barrier()
            ways[name]()
            assert (out == (rank + 1) % world + 1).all(), name
        times = timed_together(ways)
        assert not missing.any(), missing
        kept[str(nbytes)] = {name: {"us": ms * 1e3, "gbps": nbytes / ms / 1e6} for name, ms in times.items()}
        if rank == 0:
            rates = (f"{name} {row['gbps']:6.1f} GB/s" for name, row in kept[str(nbytes)].items())
            print(f"{nbytes:>11,} bytes ", *rates, sep="  ")
        dist.barrier()
        del held
    if rank == 0:
        keep(figures={"world": world, "gpu": torch.cuda.get_device_name(), "sizes": kept})


together(main)
