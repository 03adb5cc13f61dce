"""Time kernels.gelu, with a bias and without, forward and backward, beside PyTorch eager and torch.compile."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config
import torch.nn.functional as F

from kernels.tools.benchmark import Benchmark
from kernels.activations import gelu

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
SHAPES = [(512, 4096), (8192, 4096), (8192, 14336), (32768, 14336), (8191, 4095)]


def tanh_form(x, bias=None):
    return gelu(x, bias, approximate="tanh")


def plain(x):
    return F.gelu(x, approximate="tanh")


def plain_erf(x):
    return F.gelu(x)


def plain_bias(x, bias):
    return F.gelu(x + bias, approximate="tanh")


def compiled(function, best=False):
    return torch.compile(function, dynamic=False, mode="max-autotune-no-cudagraphs" if best else None)


def close(found, expected):
    return ((found.double() - expected).norm() / expected.norm()).item() < 1.6e-2


def case(op, shape, ours, theirs, arguments, backward=False, best=False):
    """One operation at one shape: forward and, if asked for, backward."""
    torch.compiler.reset()
    x = arguments[0]
    functions = {"blockwise": ours, "eager": theirs, "compile": compiled(theirs)}
    if best:
        functions["compile_max"] = compiled(theirs, best=True)
    ways = {name: lambda f=f: f(*arguments) for name, f in functions.items()}
    doubles = [argument.double().requires_grad_() for argument in arguments]
    expected = theirs(*doubles)
    benchmark.case(op, "fwd", shape, x.dtype, 2 * x.nbytes, 15 * x.numel(), ways, expected.detach())
    if backward:
        dy = torch.randn_like(x)
        expected = torch.autograd.grad(expected, doubles, dy.double())
        leaves = [argument.clone().requires_grad_() for argument in arguments]
        outputs = {name: f(*leaves) for name, f in functions.items()}
        ways = {
            name: lambda y=y: torch.autograd.grad(y, leaves, dy, retain_graph=True) for name, y in outputs.items()
        }
        assert all(close(found, one) for way in ways.values() for found, one in zip(way(), expected, strict=True))
        ways = {name: lambda way=way: way()[0] for name, way in ways.items()}
        benchmark.case(op, "bwd", shape, x.dtype, 3 * x.nbytes, 20 * x.numel(), ways, expected[0])


benchmark = Benchmark()
for rows, columns in SHAPES:
    x = torch.randn(rows, columns, device="cuda").bfloat16()
    middle = (rows, columns) == (8192, 4096)
    case("gelu", f"{rows}x{columns}", tanh_form, plain, [x], middle, middle)
    if (rows, columns) in ((8192, 4096), (8192, 14336)):
        case("gelu_erf", f"{rows}x{columns}", gelu, plain_erf, [x], middle)
    if middle:
        bias = torch.randn(columns, device="cuda").bfloat16()
        case("bias_gelu", f"{rows}x{columns}", tanh_form, plain_bias, [x, bias], backward=True)
benchmark.finish()
