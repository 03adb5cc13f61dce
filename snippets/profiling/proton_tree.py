"""Proton, the profiler that comes with Triton: scopes as a tree, and a kernel that tells its own bytes."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch
import triton
import triton.language as tl

import json
import tempfile
from pathlib import Path

# --8<-- [start:proton]
import triton.profiler as proton
# --8<-- [end:proton]

from kernels.tools.benchmark import keep


# --8<-- [start:kernel]
def told(grid, kernel, arguments):
    return {"name": f"copy of {arguments['n']}", "bytes": 8 * arguments["n"]}


@triton.jit(launch_metadata=told)
def told_copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)
# --8<-- [end:kernel]


# --8<-- [start:work]
def step(x, y):
    for n in (2**20, 2**24):
        with proton.scope("copy"):
            told_copy_kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
    with proton.scope("PyTorch"):
        return torch.softmax(y.view(4096, 4096), dim=-1)
# --8<-- [end:work]


x = torch.randn(2**24, device="cuda")
y = torch.empty_like(x)
step(x, y)  # compile first
torch.cuda.synchronize()
# --8<-- [start:run]
with tempfile.TemporaryDirectory() as folder:
    session = proton.start(f"{folder}/steps", hook="triton")  # the hook asks each kernel for its metadata
    for _ in range(10):
        with proton.scope("step"):
            step(x, y)
    torch.cuda.synchronize()
    proton.finalize(session)
    tree, *_ = json.loads(Path(f"{folder}/steps.hatchet").read_text())


def total(node, metric):
    return node["metrics"].get(metric, 0) + sum(total(child, metric) for child in node["children"])


def show(node, depth=0):
    ns, count, moved = (total(node, metric) for metric in ("time (ns)", "count", "bytes"))
    rate = f"{moved / ns:8.0f} GB/s" if moved and ns else ""
    name = "  " * depth + node["frame"]["name"]
    print(f"{name[:45]:46}{ns / 1e3:10.1f} us{count:5.0f}{rate}")
    for child in node["children"]:
        show(child, depth + 1)


show(tree)
# --8<-- [end:run]
assert total(tree, "time (ns)") > 0
torch.testing.assert_close(x, y)
keep(figures={"us": total(tree, "time (ns)") / 1e3})
