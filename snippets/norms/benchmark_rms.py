"""Time kernels.rms_norm, forward and backward, beside PyTorch eager, torch.compile and other libraries' Triton kernels."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config
import torch.nn.functional as F

from kernels.tools.benchmark import TOLERANCE, Replayed
from kernels.norm import rms_norm

try:
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
except ImportError:
    print("liger-kernel is not installed: it is left out")
    LigerRMSNormFunction = None
try:
    from flash_attn.ops.triton.layer_norm import rms_norm_fn
except ImportError:
    print("flash-attn's Triton kernels are not installed: they are left out")
    rms_norm_fn = None

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
SHAPES = [(8192, 4096), (8192, 8192), (512, 4096), (32768, 2048), (4096, 16384), (2048, 65536)]
SHAPES += [(8192, 5001), (262144, 128), (64, 262144)]  # awkward ones


def plain(x, weight):
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


def unfused(x, weight):
    """As Hugging Face's Llama model has it: several kernels."""
    x32 = x.to(torch.float32)
    return weight * (x32 * torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


benchmark = Replayed()
for rows, columns in SHAPES:
    torch.compiler.reset()
    x, dy = (torch.randn(rows, columns, device="cuda").bfloat16() for _ in range(2))
    weight = torch.randn(columns, device="cuda").bfloat16()
    functions = {
        "blockwise": lambda x, weight: rms_norm(x, weight, 1e-6),
        "eager": plain,
        "compile": torch.compile(plain, dynamic=False),
    }
    if columns in (4096, 8192, 16384, 65536):
        functions["eager_hf"] = unfused
    if LigerRMSNormFunction and columns <= 65536:
        functions["liger"] = lambda x, weight: LigerRMSNormFunction.apply(x, weight, 1e-6, 0.0, "llama", False)
    if rms_norm_fn and columns <= 16384:
        functions["flash_triton"] = lambda x, weight: rms_norm_fn(x, weight, None, eps=1e-6)
    shape = f"{rows}x{columns}"
    expected = plain(x.double(), weight.double())
    forward = {name: lambda f=f: f(x, weight) for name, f in functions.items()}
    benchmark.case("rmsnorm", "fwd", shape, x.dtype, 2 * x.nbytes, 4 * x.numel(), forward, expected)

    exact = [t.double().requires_grad_() for t in (x, weight)]
    expected, dweight = torch.autograd.grad(plain(*exact), exact, dy.double())
    leaves = [t.clone().requires_grad_() for t in (x, weight)]
    slow = ("eager_hf", "flash_triton") if (rows, columns) != (8192, 4096) else ()
    outputs = {name: f(*leaves) for name, f in functions.items() if name not in slow}
    for name, y in outputs.items():
        (found,) = torch.autograd.grad(y, leaves[1:], dy, retain_graph=True)
        error = ((found.double() - dweight).norm() / dweight.norm()).item()
        assert error < TOLERANCE[x.dtype], f"{name}: the weight's gradient is off by {error:.1e}"
    backward = {
        name: lambda y=y: torch.autograd.grad(y, leaves, dy, retain_graph=True)[0] for name, y in outputs.items()
    }
    benchmark.case("rmsnorm", "bwd", shape, x.dtype, 3 * x.nbytes, 10 * x.numel(), backward, expected)
    del outputs, expected, dweight
benchmark.finish()
