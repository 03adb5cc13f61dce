"""Twenty small steps: twenty launches, their replay from a graph, and one kernel."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

import time

from kernels.tools.benchmark import alternate, capture, keep, quantiles


# --8<-- [start:kernel]
@triton.jit
def small_steps_kernel(x_ptr, y_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    for _ in range(STEPS):
        x = 0.5 * x + 1
    tl.store(y_ptr + offsets, x, mask=offsets < n)
# --8<-- [end:kernel]


# --8<-- [start:ways]
def launches(x, y):
    for step in range(20):
        small_steps_kernel[(triton.cdiv(x.numel(), 1024),)](y if step else x, y, x.numel(), STEPS=1, BLOCK=1024)


def one_kernel(x, y):
    small_steps_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), STEPS=20, BLOCK=1024)
# --8<-- [end:ways]


def clock_us(call):
    """Microseconds of a call by the host's clock, the median of 50, the GPU waited for."""
    found = []
    for _ in range(60):
        torch.cuda.synchronize()
        began = time.perf_counter()
        call()
        torch.cuda.synchronize()
        found.append((time.perf_counter() - began) * 1e6)
    return quantiles(found[10:])[1]


torch.cuda.set_stream(torch.cuda.Stream())
kept = {}
print(f"{'elements':>12}{'20 launches':>14}{'from a graph':>14}{'one kernel':>12}{'GPU, a step':>13}")
for n in (2**10, 2**14, 2**18, 2**22, 2**26):
    x, y = torch.randn(n, device="cuda"), torch.empty(n, device="cuda")
    launches(x, y)
    slow = y.clone()
    one_kernel(x, y)
    torch.testing.assert_close(y, slow)
    graph = capture(lambda x=x, y=y: launches(x, y))
    step_us = quantiles(alternate([graph])[0])[1] * 1e3 / 20
    calls = (lambda x=x, y=y: launches(x, y)), graph, (lambda x=x, y=y: one_kernel(x, y))
    row = [clock_us(call) for call in calls] + [step_us]
    print(f"{n:12,}{row[0]:11.1f} us{row[1]:11.1f} us{row[2]:9.1f} us{row[3]:10.1f} us")
    kept[f"n{n}"] = dict(zip(("launches", "graph", "one", "step"), row, strict=True))
keep(figures=kept)
