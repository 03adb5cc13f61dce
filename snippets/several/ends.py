"""How programs on several GPUs end when something is wrong: a rank dies, one never comes, shapes differ, no link."""
# needs: 2 gpus
import os
import sys

import torch

if torch.cuda.device_count() < 2:
    if os.environ.get("RANK", "0") != "0":
        sys.exit()  # the first one speaks for all
    print("needs: 2 gpus (NVIDIA GPUs of one machine that PyTorch can use)")
    sys.exit(2)

import re
import subprocess
import time

import torch.distributed as dist

from kernels.tools.benchmark import keep
from kernels.tools.several import symmetric, together
from snippets.several.one_shot import one_shot


# --8<-- [start:cases]
def dies(rank, world):
    if rank == 1:
        os._exit(9)
    dist.all_reduce(torch.ones(4, device="cuda"))
    torch.cuda.synchronize()


def never_comes(rank, world):
    x, _, x_places = symmetric((1000,), torch.float32)
    flags, _, flags_places = symmetric((world,), torch.int32)
    out, missing = torch.empty_like(x), torch.zeros(world, dtype=torch.int32, device="cuda")
    if rank != 1:
        one_shot(x_places, flags_places, missing, out, rank, world, limit=1_000_000)
        raise TimeoutError(f"rank {rank} waited for ranks {missing.nonzero().flatten().tolist()}")
    time.sleep(30)


def shapes_differ(rank, world):
    symmetric((1000 + rank,), torch.float32)


def shapes_differ_in_nccl(rank, world):
    dist.all_reduce(torch.ones(1000 + rank, device="cuda"))
    torch.cuda.synchronize()


def no_link(rank, world):
    torch.cuda.can_device_access_peer = lambda *_: False  # as a machine answers whose driver allows none
    symmetric((1000,), torch.float32)
# --8<-- [end:cases]


CASES = {function.__name__: function for function in (dies, never_comes, shapes_differ, shapes_differ_in_nccl, no_link)}
SAYS = re.compile(r"^.*?(\w+Error: [^\n]{1,200}|exitcode +: -?\d+)", re.MULTILINE)

if sys.argv[1:]:
    together(CASES[sys.argv[1]])
    sys.exit()

# --8<-- [start:ends]
kept = {}
os.environ.setdefault("PYTHONPATH", os.getcwd())  # for a checkout
for case in CASES:
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1", "--nproc-per-node=gpu"]
    debug = {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"} if case == "shapes_differ_in_nccl" else {}  # it compares shapes first
    began = time.monotonic()
    command = [sys.executable, *torchrun, sys.argv[0], case]
    done = subprocess.run(command, env=os.environ | debug, capture_output=True, text=True, timeout=100)
    seconds = time.monotonic() - began
    said = list(dict.fromkeys(SAYS.findall(done.stderr)))
    print(f"{case}: ended with status {done.returncode}\n  " + "\n  ".join(said[:3]))
    assert done.returncode != 0, case
    kept[case] = {"seconds": seconds}
# --8<-- [end:ends]
keep(figures=kept)
