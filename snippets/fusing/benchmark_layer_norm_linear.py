"""Time kernels.layer_norm_linear, forward and backward, beside PyTorch eager and torch.compile."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config
import torch.nn.functional as F

from kernels.tools.benchmark import Replayed
from kernels.layer_norm_linear import layer_norm_linear

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
# Rows, numbers a row, outputs.
SHAPES = [(8192, 4096, 4096), (2048, 4096, 16384), (512, 1024, 4096), (16384, 1024, 4096)]


def plain(x, ln_weight, ln_bias, weight, bias):
    return F.linear(F.layer_norm(x, x.shape[-1:], ln_weight, ln_bias), weight, bias)


benchmark = Replayed()
for m, k, n in SHAPES:
    torch.compiler.reset()
    x, dy = torch.randn(m, k, device="cuda").bfloat16(), torch.randn(m, n, device="cuda").bfloat16()
    ln_weight, ln_bias, weight, bias = (
        torch.randn(*shape, device="cuda").bfloat16() for shape in ((k,), (k,), (n, k), (n,))
    )
    given = (x, ln_weight, ln_bias, weight, bias)
    functions = {"blockwise": layer_norm_linear, "eager": plain, "compile": torch.compile(plain, dynamic=False)}
    expected = plain(*(t.double() for t in given))
    moved, flops = (m * k + k * n + m * n) * 2, 2 * m * n * k
    forward = {name: lambda f=f: f(*given) for name, f in functions.items()}
    with torch.no_grad():
        benchmark.case("ln_linear", "fwd", f"{m}x{k}x{n}", x.dtype, moved, flops, forward, expected)

    leaves = [t.clone().requires_grad_() for t in given]
    outputs = {name: f(*leaves) for name, f in functions.items()}
    backward = {
        name: lambda y=y: torch.autograd.grad(y, leaves, dy, retain_graph=True)[0] for name, y in outputs.items()
    }
    leaves64 = [t.double().requires_grad_() for t in given]
    wanted = torch.autograd.grad(plain(*leaves64), leaves64, dy.double())
    for found, exact in zip(torch.autograd.grad(outputs["blockwise"], leaves, dy, retain_graph=True), wanted, strict=True):
        assert (found.double() - exact).norm() < 2e-2 * exact.norm()
    benchmark.case("ln_linear", "bwd", f"{m}x{k}x{n}", x.dtype, 2 * moved, 2 * flops, backward, wanted[0])
    del outputs, wanted, leaves64
benchmark.finish()
