"""Time kernels.swiglu and kernels.geglu, forward and backward, beside PyTorch eager, torch.compile and Liger-Kernel."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config
import torch.nn.functional as F

from kernels.tools.benchmark import Benchmark
from kernels.activations import geglu
from kernels.activations import swiglu

try:
    from liger_kernel.ops.geglu import LigerGELUMulFunction
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction
except ImportError:
    print("liger-kernel is not installed: it is left out")
    LigerSiLUMulFunction = LigerGELUMulFunction = None

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here


def plain_swiglu(gate, up):
    return F.silu(gate) * up


def plain_geglu(gate, up):
    return F.gelu(gate, approximate="tanh") * up


SHAPES = [(512, 4096), (8192, 4096), (8192, 14336), (32768, 14336), (8191, 4095)]
OPERATIONS = {
    "swiglu": (swiglu, plain_swiglu, LigerSiLUMulFunction, SHAPES),
    "geglu": (geglu, plain_geglu, LigerGELUMulFunction, [(8192, 4096), (8192, 14336)]),
}


def inputs(rows, columns, halves):
    """A gate and an up, apart or as the halves of one matrix, and a gradient for the result."""
    if halves:
        gate, up = torch.randn(rows, 2 * columns, device="cuda").bfloat16().chunk(2, dim=-1)
    else:
        gate, up = (torch.randn(rows, columns, device="cuda").bfloat16() for _ in range(2))
    return gate, up, torch.randn(rows, columns, device="cuda").bfloat16()


def with_halves(function):
    return lambda matrix: function(*matrix.chunk(2, dim=-1))


def close(found, expected):
    return ((found.double() - expected).norm() / expected.norm()).item() < 1.6e-2


benchmark = Benchmark()
for op, (ours, plain, liger, shapes) in OPERATIONS.items():
    for rows, columns in shapes:
        torch.compiler.reset()
        gate, up, dy = inputs(rows, columns, halves=False)
        n, shape = gate.numel(), f"{rows}x{columns}"
        functions = {"blockwise": ours, "eager": plain, "compile": torch.compile(plain, dynamic=False)}
        if shape == "8192x4096":
            functions["compile_max"] = torch.compile(plain, dynamic=False, mode="max-autotune-no-cudagraphs")
        if liger:
            functions["liger"] = liger.apply
        expected = plain(gate.double(), up.double())
        forward = {name: lambda f=f: f(gate, up) for name, f in functions.items()}
        benchmark.case(op, "fwd", shape, gate.dtype, 3 * gate.nbytes, 10 * n, forward, expected)
        if shape not in ("8192x4096", "8192x14336"):
            continue
        leaves = gate.clone().requires_grad_(), up.clone().requires_grad_()
        doubles = gate.double().requires_grad_(), up.double().requires_grad_()
        expected = torch.autograd.grad(plain(*doubles), doubles, dy.double())
        outputs = {name: f(*leaves) for name, f in functions.items() if name != "liger"}
        backward = {
            name: lambda y=y: torch.autograd.grad(y, leaves, dy, retain_graph=True) for name, y in outputs.items()
        }
        assert all(close(found, one) for way in backward.values() for found, one in zip(way(), expected, strict=True))
        ways = {name: lambda way=way: way()[0] for name, way in backward.items()}
        if liger:
            # Its backward writes over its inputs: right at the first call, which is checked, and as fast at the others.
            copies = gate.clone().requires_grad_(), up.clone().requires_grad_()
            y = liger.apply(*copies)
            ways["liger"] = lambda y=y: torch.autograd.grad(y, copies, dy, retain_graph=True)[0]
        benchmark.case(op, "bwd", shape, gate.dtype, 5 * gate.nbytes, 15 * n, ways, expected[0])
        del outputs, backward, ways, doubles, expected

torch.compiler.reset()
gate, up, _ = inputs(8192, 14336, halves=True)
functions = {"blockwise": swiglu, "eager": plain_swiglu, "compile": torch.compile(plain_swiglu, dynamic=False)}
if LigerSiLUMulFunction:
    functions["liger"] = lambda gate, up: LigerSiLUMulFunction.apply(gate.contiguous(), up.contiguous())
ways = {name: lambda f=f: f(gate, up) for name, f in functions.items()}
expected = plain_swiglu(gate.double(), up.double())
benchmark.case("swiglu_halves", "fwd", "8192x14336", gate.dtype, 6 * gate.numel(), 10 * gate.numel(), ways, expected)
benchmark.finish()
