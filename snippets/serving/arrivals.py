"""Requests that arrive while a kernel runs: slots that wait for them, beside a launch for whatever has come by then."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import statistics
import time

from kernels.tools.benchmark import keep
from snippets.serving.slots import WIDTH, requests, serving_batch_kernel, serving_slot_kernel

GROUPS, EACH, PAUSE = 64, 16, 200e-6
SLOTS = torch.cuda.get_device_properties(0).multi_processor_count
x, starts = requests(GROUPS * EACH, 200, "cuda")
n_requests, side = GROUPS * EACH, torch.cuda.Stream()
counts = torch.arange(0, n_requests + 1, EACH, dtype=torch.int32).pin_memory()


# --8<-- [start:arrive]
def wait_until(moment):
    while time.perf_counter() < moment:
        pass


def by_queue():
    """One launch. The host writes, on another stream, how many requests are there."""
    out = torch.full((n_requests, WIDTH), float("nan"), device="cuda")
    queue = torch.zeros(2, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    begin = time.perf_counter()
    serving_slot_kernel[(SLOTS,)](x, starts, out, queue, n_requests, WIDTH=WIDTH, PATIENCE=2**20)
    for group in range(1, GROUPS + 1):
        wait_until(begin + group * PAUSE)
        with torch.cuda.stream(side):
            queue[1:].copy_(counts[group : group + 1], non_blocking=True)
    torch.cuda.synchronize()
    return time.perf_counter() - begin, out


def by_launches():
    """A launch for all that have come, then one for all that came meanwhile."""
    out = torch.full((n_requests, WIDTH), float("nan"), device="cuda")
    torch.cuda.synchronize()
    begin, done = time.perf_counter(), 0
    while done < n_requests:
        here = min(GROUPS, int((time.perf_counter() - begin) / PAUSE)) * EACH
        if here > done:
            serving_batch_kernel[(here - done,)](x, starts, out, done, WIDTH=WIDTH)
            torch.cuda.synchronize()
            done = here
    return time.perf_counter() - begin, out
# --8<-- [end:arrive]


figures = {"slots": SLOTS, "requests": n_requests, "arrival_ms": GROUPS * PAUSE * 1e3}
for way in (by_queue, by_launches):
    way()
    runs = [way() for _ in range(5)]
    figures[f"{way.__name__}_ms"] = statistics.median(seconds for seconds, _ in runs) * 1e3
    figures[f"{way.__name__}_served"] = min(int((~out.isnan().any(1)).sum()) for _, out in runs)
    print(way.__name__, figures[f"{way.__name__}_served"], "served")
keep(figures=figures)
