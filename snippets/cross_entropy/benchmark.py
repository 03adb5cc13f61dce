"""Time kernels.cross_entropy, alone and with its gradient, beside PyTorch, torch.compile, Liger-Kernel and flash-attn."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.nn.functional as F

from kernels.tools.benchmark import Benchmark, alternate, capture, quantiles
from kernels.cross_entropy import cross_entropy

try:
    from liger_kernel.transformers.functional import liger_cross_entropy
except ImportError:
    print("liger-kernel is not installed: it is left out")
    liger_cross_entropy = None
try:
    from flash_attn.ops.triton.cross_entropy import cross_entropy_loss
except ImportError:
    print("flash-attn is not installed: it is left out")
    cross_entropy_loss = None

SHAPES = [(8192, 4096), (4096, 32000), (16384, 50304), (8192, 128256), (2048, 262144)]
# A vocabulary that no power of two divides, many short rows, and a few very long ones.
SHAPES += [(8192, 50257), (262144, 1000), (64, 262144)]
COMPILED = [*SHAPES[:6]]


def flash_mean(x, target):
    return cross_entropy_loss(x, target)[0].mean()


def flash_in_place(x, target):
    return cross_entropy_loss(x, target, inplace_backward=True)[0].mean()


def gradient_of(function, x, target):
    """Loss and gradient together: what a training step pays."""
    # These two write the gradient over the logits, so they get some of their own.
    over = function in (liger_cross_entropy, flash_in_place)
    leaf = (x.clone() if over else x.detach()).requires_grad_()
    return lambda: torch.autograd.grad(function(leaf, target), leaf)[0]


class Replayed(Benchmark):
    """Replays a case from a graph also where each call is long: with a gradient it may be the host that makes it so."""

    def case(self, *arguments):
        before = len(self.measurements)
        super().case(*arguments)
        calls = {row["implementation"]: row for row in self.measurements[before:]}
        if all(row["timing"] == "call" for row in calls.values()) and arguments[4] < 2**30:
            replays = {name: replay for name, function in arguments[6].items() if (replay := capture(function))}
            for name, times in zip(replays, alternate(list(replays.values())), strict=True):
                self.measurements.append(calls[name] | {"timing": "graph", "ms": quantiles(times)})


benchmark = Replayed()
for rows, columns in SHAPES:
    torch.compiler.reset()
    x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    target = torch.randint(0, columns, (rows,), device="cuda")
    functions = {"blockwise": cross_entropy, "eager": F.cross_entropy}
    if (rows, columns) in COMPILED:
        functions["compile"] = torch.compile(F.cross_entropy, dynamic=False)
    if (rows, columns) == (4096, 32000):
        mode = "max-autotune-no-cudagraphs"
        functions["compile_max"] = torch.compile(F.cross_entropy, dynamic=False, mode=mode)
    if liger_cross_entropy:
        functions["liger"] = liger_cross_entropy
    if cross_entropy_loss:
        functions["flash_triton"] = flash_mean

    shape = f"{rows}x{columns}"
    expected = torch.zeros((), dtype=torch.float64, device="cuda")
    dx = torch.empty_like(x)
    for part in range(0, rows, 512):  # in parts, because float64 takes four times the memory
        some, wanted = x[part : part + 512].double(), target[part : part + 512]
        expected += F.cross_entropy(some, wanted, reduction="sum") / rows
        some = torch.softmax(some, 1)
        some[torch.arange(len(some)), wanted] -= 1
        dx[part : part + 512] = some / rows
    forward = {name: lambda f=f: f(x, target) for name, f in functions.items()}
    moved, flops = x.nbytes, 4 * x.numel()
    benchmark.case("cross_entropy", "fwd", shape, x.dtype, moved, flops, forward, expected)
    if cross_entropy_loss:
        functions["flash_triton_ip"] = flash_in_place
    both = {name: gradient_of(f, x, target) for name, f in functions.items()}
    benchmark.case("cross_entropy", "fwdbwd", shape, x.dtype, 2 * moved, 7 * x.numel(), both, dx)
benchmark.finish()
