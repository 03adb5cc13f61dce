"""An illegal access on a GPU, in processes that it ends: who reports it, launches that wait, and what works afterwards."""
# needs: cuda
# sanitizer: memcheck fault
import os
import subprocess
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.debugging.lookup import lookup


# --8<-- [start:steps]
def steps():
    table = torch.rand(1000, 64, device="cuda")
    ids = torch.arange(8, device="cuda")
    lookup(table, ids)  # compiled, and right
    ids[5] = 2**40  # a row that is no row
    torch.cuda.synchronize()
    yield "the launch", lambda: lookup(table, ids)
    yield "a line after it", lambda: table.add_(1)
    yield "a line that asks for a number", lambda: table.sum().item()
    yield "a new tensor", lambda: torch.zeros(1, device="cuda")


def first_line(step):
    try:
        step()
        return "no objection"
    except RuntimeError as error:
        return str(error).splitlines()[0]
# --8<-- [end:steps]


if "fault" in sys.argv:  # in a process of its own, which is lost afterwards
    for name, step in steps():
        print(f"{name}: {first_line(step)}", flush=True)
    os._exit(0)

# --8<-- [start:children]
for blocking in ("0", "1"):
    print(f"CUDA_LAUNCH_BLOCKING={blocking}")
    variables = os.environ | {"CUDA_LAUNCH_BLOCKING": blocking}
    done = subprocess.run([sys.executable, sys.argv[0], "fault"], env=variables, capture_output=True, text=True)
    print(done.stdout)
    assert "illegal memory access" in done.stdout, "the mistake this program shows did not happen"
print("in the process that started them:", first_line(lambda: torch.zeros(1, device="cuda").item()))
# --8<-- [end:children]
keep(figures={"children": 2})
