"""An all-reduce of one shot and of two, beside NCCL's and those of PyTorch's symmetric memory: right first, then timed."""
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
from kernels.tools.several import replayed, symmetric, timed_together, together
from snippets.several.one_shot import one_shot
from snippets.several.two_shot import two_shot

SIZES = [2**power for power in (14, 17, 20, 23, 27)]
CALLS = 10  # in a graph
# Programs, elements of a block, warps: which is best depends on the size and the link, so all are timed.
LAUNCHES = [(8, 1024, 4), (32, 2048, 8), (64, 4096, 16), (128, 4096, 16), (128, 8192, 16)]


def called(function, arguments, options, result):
    def call():
        function(*arguments, **options)
        return result

    return call


def main(rank, world):
    kept, group = {}, dist.group.WORLD.group_name
    flags, _, flags_places = symmetric((max(programs for programs, *_ in LAUNCHES) * world,), torch.int32)
    missing = torch.zeros(world, dtype=torch.int32, device="cuda")
    for nbytes in SIZES:
        x, _, x_places = symmetric((nbytes // 2,), torch.bfloat16)
        given = torch.randn(nbytes // 2, device="cuda", generator=torch.Generator("cuda").manual_seed(rank)).bfloat16()
        expected = given.float()
        dist.all_reduce(expected)
        out = torch.empty_like(x)
        ways = {
            "nccl": lambda x=x: dist.all_reduce(x),
            "symm_mem_one": lambda x=x: torch.ops.symm_mem.one_shot_all_reduce(x, "sum", group),
            "symm_mem_two": lambda x=x: torch.ops.symm_mem.two_shot_all_reduce_(x, "sum", group),
        }
        for programs, block, warps in LAUNCHES:
            options = {"programs": programs, "block": block, "num_warps": warps}
            for name, function, mine in (("one_shot", one_shot, out), ("two_shot", two_shot, x)):
                arguments = (x_places, flags_places, missing, mine, rank, world)
                ways[f"{name} {programs} {block}"] = called(function, arguments, options, mine)
        for name, way in ways.items():
            x.copy_(given)
            torch.cuda.synchronize()
            dist.barrier()
            found = way()
            found = x if not isinstance(found, torch.Tensor) else found
            error = ((found.float() - expected).norm() / expected.norm()).item()
            assert error < 1.6e-2, (name, nbytes, error)
            torch.cuda.synchronize()
            dist.barrier()
        # Sums in place grow from call to call until they overflow. That is so for every way, and nobody looks at them.
        calls = timed_together(ways)
        graphs = timed_together({name: replayed(way, CALLS) for name, way in ways.items()})
        assert not missing.any(), missing
        rows = {name: {"call_us": calls[name] * 1e3, "graph_us": graphs[name] / CALLS * 1e3} for name in ways}
        for name in ("one_shot", "two_shot"):  # the best launch of each, which is the same on all ranks
            tried = {key: rows.pop(key) for key in list(rows) if key.startswith(f"{name} ")}
            best = min(tried, key=lambda key: tried[key]["graph_us"])
            rows[name] = tried[best] | {"launch": best.removeprefix(f"{name} ")}
        kept[str(nbytes)] = rows
        if rank == 0:
            for name, row in rows.items():
                print(f"{nbytes:>11,} bytes  {name:14} {row['call_us']:8.1f} us a call, {row['graph_us']:8.1f} us in a graph")
    if rank == 0:
        keep(figures={"world": world, "gpu": torch.cuda.get_device_name(), "sizes": kept})


together(main)
