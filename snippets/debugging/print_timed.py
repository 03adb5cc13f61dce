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

BLOCK, LENGTH = 1024, 2**22
WAYS = {"never": ("never", 0), "silent": ("one", -1), "one": ("one", 5), "all": ("all", 0)}


def launch(way, x, y):
    PRINT, asked = WAYS[way]
    return halve_and_print_kernel[(LENGTH // BLOCK,)](x, y, LENGTH, asked, PRINT=PRINT, BLOCK=BLOCK)


def timed(x, y):
    """Microseconds and registers of each way; what the kernels print goes to standard output."""
    made = {way: launch(way, x, y) for way in WAYS}
    short = [way for way in WAYS if way != "all"]
    times = dict(zip(short, alternate([lambda way=way: launch(way, x, y) for way in short]), strict=True))
    times["all"] = [once("all", x, y) for _ in range(3)]  # it takes so long that no clock has to be asked more often
    return {way: {"us": quantiles(times[way])[1] * 1e3, "registers": made[way].n_regs} for way in WAYS}


def once(way, x, y):
    """The GPU's milliseconds for one launch."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    launch(way, x, y)
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end)


if sys.argv[1:]:  # a child, whose standard output somebody reads
    x = torch.randn(LENGTH, device="cuda")
    y = torch.empty_like(x)
    torch.cuda.synchronize()
    if sys.argv[1] == "timed":
        print(json.dumps(timed(x, y)), file=sys.stderr)
    else:
        launch(sys.argv[1], x, y)
    torch.cuda.synchronize()
    assert torch.equal(y, x / 2)
    sys.exit(0)

found = {}
for mode in ("timed", "one", "all"):
    done = subprocess.run([sys.executable, __file__, mode], capture_output=True, text=True, errors="replace", timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    if mode == "timed":
        found = json.loads(done.stderr.strip().splitlines()[-1])
    else:
        found[mode]["written"] = BLOCK if mode == "one" else LENGTH
        found[mode]["arrived"] = sum(line.startswith("pid (") for line in done.stdout.splitlines())
for way, row in found.items():
    print(f"{way:7}{row['us']:12.1f} us{row['registers']:5} registers", end="")
    print(f"{row['arrived']:12,} of {row['written']:,} lines arrived" if "written" in row else "")
keep(figures={"length": LENGTH, "ways": found})
