"""Time kernels.softmax, forward and backward, beside PyTorch eager, torch.compile and Liger-Kernel."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

from kernels.tools.benchmark import Replayed
from kernels.softmax import softmax
from kernels.softmax.softmax import softmax_route

try:
    from liger_kernel.transformers.functional import liger_softmax
except ImportError:
    print("liger-kernel is not installed: it is left out")
    liger_softmax = None

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
SHAPES = {
    torch.float32: [(4096, 256), (4096, 1024), (1823, 781), (4096, 12672), (4096, 32768)],
    torch.bfloat16: [(8192, 1024), (65536, 512), (16384, 2048), (8192, 4096), (4096, 32768), (2048, 65536)],
}
SHAPES[torch.bfloat16] += [(1024, 131072), (512, 262144), (32, 262144), (8192, 5001)]


def plain(x):
    return torch.softmax(x, dim=-1)


benchmark = Replayed()
for dtype, shapes in SHAPES.items():
    for rows, columns in shapes:
        torch.compiler.reset()
        x = torch.randn(rows, columns, device="cuda").to(dtype)
        dy = torch.randn(rows, columns, device="cuda").to(dtype)
        functions = {
            "blockwise": softmax,
            "eager": plain,
            "compile": torch.compile(plain, dynamic=False),
            "compile_max": torch.compile(plain, dynamic=False, mode="max-autotune-no-cudagraphs"),
        }
        if liger_softmax and columns <= 65536:
            functions["liger"] = liger_softmax
        expected = torch.softmax(x.double(), dim=-1)
        forward = {name: lambda f=f: f(x) for name, f in functions.items()}
        shape = f"{rows}x{columns}"
        route = {"route": softmax_route(columns, dtype, n_rows=rows)}
        benchmark.case("softmax", "fwd", shape, dtype, 2 * x.nbytes, 5 * x.numel(), forward, expected, route)

        leaf = x.clone().requires_grad_()
        outputs = {name: f(leaf) for name, f in functions.items()}
        backward = {
            name: lambda y=y: torch.autograd.grad(y, leaf, dy, retain_graph=True)[0]
            for name, y in outputs.items()
        }
        expected = expected * (dy.double() - (expected * dy.double()).sum(-1, keepdim=True))
        route = {"route": softmax_route(columns, dtype, True, rows)}
        benchmark.case("softmax", "bwd", shape, dtype, 3 * x.nbytes, 4 * x.numel(), backward, expected, route)
        del outputs, expected
benchmark.finish()
