"""The time of a kernel, taken without waiting for it, and taken with."""
# needs: cuda
import statistics
import sys
import time

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.add import add
from kernels.tools.benchmark import keep

# --8<-- [start:timing]
x, y = torch.randn(2, 2**28, device="cuda").unbind()
add(x, y)  # compiles the kernel
torch.cuda.synchronize()


def once(wait):
    began = time.perf_counter()
    add(x, y)
    if wait:
        torch.cuda.synchronize()  # the launch only queues the kernel
    ended = time.perf_counter()
    torch.cuda.synchronize()
    return 1e6 * (ended - began)


forgotten = statistics.median(once(wait=False) for _ in range(50))
waited = statistics.median(once(wait=True) for _ in range(50))
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
start.record()
for _ in range(50):
    add(x, y)
end.record()
torch.cuda.synchronize()
events = 1e3 * start.elapsed_time(end) / 50
for name, us in (("no wait", forgotten), ("wait", waited), ("events", events)):
    print(f"{name:8} {us:7.1f} us, as if {3 * x.nbytes / us / 1e3:8,.0f} GB/s")
print("same as PyTorch:", torch.equal(add(x, y), x + y))
# --8<-- [end:timing]
moved = 3 * x.nbytes
keep(figures={"forgotten_us": forgotten, "waited_us": waited, "events_us": events, "bytes": moved})
assert forgotten < events / 2, "the mistake this program shows did not happen"
