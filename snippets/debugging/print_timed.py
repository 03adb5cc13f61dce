"""Time a kernel without a print, with one that never speaks, with one program's and with everybody's; count what arrives."""
# needs: cuda
import json
import subprocess
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import alternate, keep, quantiles
from snippets.debugging.print_cost import halve_and_print_kernel

BLOCK, LENGTH, FEW = 1024, 2**22, 2**17  # a print of millions of lines takes minutes
WAYS = {"never": ("never", 0, LENGTH), "silent": ("one", -1, LENGTH), "one": ("one", 5, LENGTH), "all": ("all", 0, FEW)}


def launch(way, x, y):
    PRINT, asked, length = WAYS[way]
    return halve_and_print_kernel[(length // BLOCK,)](x, y, length, asked, PRINT=PRINT, BLOCK=BLOCK)


def timed(x, y):
    """Microseconds and registers of the ways that print little; what the kernels print goes to standard output."""
    ways = [way for way in WAYS if way != "all"]
    made = [launch(way, x, y) for way in ways]
    times = alternate([lambda way=way: launch(way, x, y) for way in ways])
    return {way: {"us": quantiles(t)[1] * 1e3, "registers": m.n_regs} for way, t, m in zip(ways, times, made, strict=True)}


def once(way, x, y):
    """The same of one launch, after which the lines are fetched. A single program goes first, and loads the kernel."""
    PRINT, asked, length = WAYS[way]
    halve_and_print_kernel[(1,)](x, y, length, asked, PRINT=PRINT, BLOCK=BLOCK)
    torch.cuda.synchronize()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    made = launch(way, x, y)
    end.record()
    torch.cuda.synchronize()
    return {way: {"us": start.elapsed_time(end) * 1e3, "registers": made.n_regs}}


if sys.argv[1:]:  # a child, whose standard output somebody reads
    x = torch.randn(LENGTH, device="cuda")
    y = torch.empty_like(x)
    torch.cuda.synchronize()
    print(json.dumps(timed(x, y) if sys.argv[1] == "timed" else once(sys.argv[1], x, y)), file=sys.stderr)
    length = FEW if sys.argv[1] == "all" else LENGTH
    assert torch.equal(y[:length], x[:length] / 2)
    sys.exit(0)

found = {}
for mode in ("timed", "one", "all"):
    done = subprocess.run([sys.executable, __file__, mode], capture_output=True, text=True, errors="replace", timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stderr.strip().splitlines()[-1])
    found = said | found  # what was timed often stands
    if mode != "timed":
        first, found[mode]["written"] = (0, BLOCK) if mode == "one" else (BLOCK, FEW)  # what the two launches wrote
        found[mode]["arrived"] = sum(line.startswith("pid (") for line in done.stdout.splitlines()) - first
for way, row in found.items():
    print(f"{way:7}{row['us']:12.1f} us{row['registers']:5} registers", end="")
    print(f"{row['arrived']:12,} of {row['written']:,} lines arrived" if "written" in row else "")
keep(figures={"length": LENGTH, "few": FEW, "ways": {way: found[way] for way in WAYS}})
