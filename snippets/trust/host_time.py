"""What the host spends on a call: the bare launch and its allocation, the library's function, and the gradient."""
# needs: cuda
import statistics
import sys
import time

import torch
import torch.nn.functional as F

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.add import add
from kernels.tools.benchmark import keep
from kernels.dropout import dropout
from kernels.activations import gelu
from kernels.norm import layer_norm
from kernels.norm import rms_norm
from kernels.softmax import softmax
from kernels.reductions import sum
from kernels.activations import swiglu


def bare(call):
    """The allocations and launches that a call makes, and nothing else of it."""
    launches, run = [], triton.runtime.JITFunction.run

    def recorded(kernel, *arguments, grid, **options):
        launches.append((kernel[grid], arguments, {k: v for k, v in options.items() if k != "warmup"}))
        return run(kernel, *arguments, grid=grid, **options)

    triton.runtime.JITFunction.run = recorded
    y = call()
    triton.runtime.JITFunction.run = run

    def launch():
        torch.empty_like(y)
        for kernel, arguments, options in launches:
            kernel(*arguments, **options)

    return launch


# --8<-- [start:host]
def host_us(*calls):
    """The host's time for each call in turn, while the GPU follows behind; the median of 30 rounds of 100."""
    times = [[] for _ in calls]
    for _ in range(30):
        for which, call in enumerate(calls):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(100):
                call()
            times[which].append((time.perf_counter() - start) / 100 * 1e6)
    return [round(statistics.median(values), 2) for values in times]
# --8<-- [end:host]


def backward(function, *inputs):
    leaves = [x.clone().requires_grad_() for x in inputs]
    y, dy = function(*leaves), torch.ones_like(function(*leaves))
    return lambda: torch.autograd.grad(y, leaves, dy, retain_graph=True)


def with_gradient(function, *inputs):
    leaves = [x.clone().requires_grad_() for x in inputs]
    return lambda: function(*leaves)


x, y = torch.randn(2, 64, 256, device="cuda").bfloat16().unbind()
w, b = torch.randn(2, 256, device="cuda").bfloat16().unbind()
OPERATIONS = {
    "add": (add, torch.add, (x, y)),
    "gelu": (gelu, F.gelu, (x,)),
    "swiglu": (swiglu, lambda gate, up: F.silu(gate) * up, (x, y)),
    "dropout": (lambda x: dropout(x, 0.1, seed=0), lambda x: F.dropout(x, 0.1), (x,)),
    "softmax": (softmax, lambda x: torch.softmax(x, -1), (x,)),
    "layer_norm": (layer_norm, lambda x, w, b: F.layer_norm(x, (256,), w, b), (x, w, b)),
    "rms_norm": (lambda x, w: rms_norm(x, w, 1e-6), lambda x, w: F.rms_norm(x, (256,), w, 1e-6), (x, w)),
    "sum": (sum, torch.sum, (x,)),
}
kept = {}
print("microseconds    bare  ours  over it  eager | with gradient: ours  eager | backward: ours  eager")
visits = {name: [] for name in OPERATIONS}
for _ in range(3):  # so that slow moments of the host fall on all operations alike
    for name, (ours, eager, inputs) in OPERATIONS.items():
        times = host_us(bare(lambda f=ours, i=inputs: f(*i)), lambda f=ours, i=inputs: f(*i), lambda f=eager, i=inputs: f(*i))
        times += host_us(with_gradient(ours, *inputs), with_gradient(eager, *inputs))
        visits[name].append(times + host_us(backward(ours, *inputs), backward(eager, *inputs)))
for name in OPERATIONS:
    times = [statistics.median(values) for values in zip(*visits[name], strict=True)]
    labels = ("bare", "ours", "eager", "ours_with_gradient", "eager_with_gradient", "ours_backward", "eager_backward")
    kept[name] = dict(zip(labels, times, strict=True))
    t = kept[name]
    print(f"{name:13}{t['bare']:>7.1f}{t['ours']:>6.1f}{t['ours'] - t['bare']:>9.1f}{t['eager']:>7.1f}", end=" |")
    print(f"{t['ours_with_gradient']:>20.1f}{t['eager_with_gradient']:>7.1f} |", end="")
    print(f"{t['ours_backward']:>15.1f}{t['eager_backward']:>7.1f}")
ways = {
    "triton.next_power_of_2(1000)": lambda: triton.next_power_of_2(1000),
    "1 << (999).bit_length()": lambda: 1 << (999).bit_length(),
    "triton.cdiv(1000, 7)": lambda: triton.cdiv(1000, 7),
    "-(-1000 // 7)": lambda: -(-1000 // 7),
}
sizes = dict(zip(ways, host_us(*ways.values()), strict=True))
for name, time_us in sizes.items():
    print(f"{name:30}{time_us:>6.2f}")
keep(figures={"host": kept, "sizes": list(sizes.values())})
