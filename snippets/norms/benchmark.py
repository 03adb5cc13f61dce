"""Time kernels.layer_norm, forward and backward, beside PyTorch eager, torch.compile and other libraries' Triton kernels."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config
import torch.nn.functional as F

from kernels.tools.benchmark import TOLERANCE, Replayed
from kernels.norm import layer_norm

try:
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction
except ImportError:
    print("liger-kernel is not installed: it is left out")
    LigerLayerNormFunction = None
try:
    from flash_attn.ops.triton.layer_norm import layer_norm_fn
except ImportError:
    print("flash-attn's Triton kernels are not installed: they are left out")
    layer_norm_fn = None

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
SHAPES = {
    torch.bfloat16: [(8192, 4096), (512, 1024), (32768, 2048), (4096, 16384), (2048, 65536)],
    torch.float16: [(4096, 8192), (4096, 1024)],
}
SHAPES[torch.bfloat16] += [(8192, 5001), (262144, 128), (64, 262144)]  # awkward ones


def plain(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def exact_gradients(x, weight, bias, dy):
    """The gradients of x, weight and bias in float64."""
    leaves = [t.double().requires_grad_() for t in (x, weight, bias)]
    return torch.autograd.grad(plain(*leaves), leaves, dy.double())


benchmark = Replayed()
for dtype, shapes in SHAPES.items():
    for rows, columns in shapes:
        torch.compiler.reset()
        x, dy = (torch.randn(rows, columns, device="cuda").to(dtype) for _ in range(2))
        weight, bias = (torch.randn(columns, device="cuda").to(dtype) for _ in range(2))
        functions = {"blockwise": layer_norm, "eager": plain, "compile": torch.compile(plain, dynamic=False)}
        if LigerLayerNormFunction and columns <= 65536:
            functions["liger"] = lambda x, weight, bias: LigerLayerNormFunction.apply(x, weight, bias, 1e-5)
        if layer_norm_fn and columns <= 16384:
            functions["flash_triton"] = lambda x, weight, bias: layer_norm_fn(x, weight, bias, eps=1e-5)
        shape = f"{rows}x{columns}"
        expected = plain(x.double(), weight.double(), bias.double())
        forward = {name: lambda f=f: f(x, weight, bias) for name, f in functions.items()}
        benchmark.case("layernorm", "fwd", shape, dtype, 2 * x.nbytes, 8 * x.numel(), forward, expected)

        leaves = [t.clone().requires_grad_() for t in (x, weight, bias)]
        outputs = {name: f(*leaves) for name, f in functions.items() if name != "flash_triton"}
        expected, *others = exact_gradients(x, weight, bias, dy)
        for name, y in outputs.items():
            for found, exact in zip(torch.autograd.grad(y, leaves[1:], dy, retain_graph=True), others, strict=True):
                error = ((found.double() - exact).norm() / exact.norm()).item()
                assert error < TOLERANCE[dtype], f"{name}: a parameter's gradient is off by {error:.1e}"
        backward = {
            name: lambda y=y: torch.autograd.grad(y, leaves, dy, retain_graph=True)[0]
            for name, y in outputs.items()
        }
        benchmark.case("layernorm", "bwd", shape, dtype, 3 * x.nbytes, 14 * x.numel(), backward, expected)
        del outputs, expected, others
benchmark.finish()
