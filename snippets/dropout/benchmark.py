"""Time kernels.dropout, forward and backward, beside PyTorch eager, torch.compile, and a kernel with one draw an element."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config
import torch.nn.functional as F
import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark
from kernels.dropout import dropout

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
P = 0.1


@triton.jit
def one_draw_kernel(x_ptr, y_ptr, n_elements, p, seed, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    kept = tl.rand(seed, offsets) >= p
    tl.store(y_ptr + offsets, tl.where(kept, x / (1 - p), 0.0), mask=mask)


def one_draw(x):
    y = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    one_draw_kernel[grid](x, y, x.numel(), P, 123, BLOCK=1024)
    return y


def plain(x):
    return F.dropout(x, P)


def plain_add(x, residual):
    return residual + F.dropout(x, P)


class Undone:
    """A result that can be compared: only the check before the timing asks for it in float64, and gets it without dropout."""

    def __init__(self, y, expected, residual=None):
        self.y, self.expected, self.residual = y, expected, residual

    def double(self):
        y = self.y.double()
        if self.residual is not None:
            return self.undone(y - self.residual.double())
        return self.undone(y)

    def undone(self, y):
        # A residual leaves rounding behind where nothing was added; the rest must be x / (1 - p).
        dropped = y.abs() < 0.5 * self.expected.abs()
        assert abs(dropped.double().mean().item() - P) < 0.01, "the share of dropped elements is wrong"
        return torch.where(dropped, self.expected, y * (1 - P))


benchmark = Benchmark()
CASES = [(2**20, torch.float32), (2**24, torch.float32), (2**28, torch.float32), (2**28, torch.bfloat16)]
for n, dtype in [*CASES, (2**28 - 3, torch.bfloat16)]:
    torch.compiler.reset()
    x = torch.randn(n, device="cuda").to(dtype)
    dy = torch.randn(n, device="cuda").to(dtype)
    functions = {
        "blockwise": lambda x: dropout(x, P, seed=123),
        "eager": plain,
        "compile": torch.compile(plain, dynamic=False),
    }
    if n == 2**28:
        functions["compile_max"] = torch.compile(plain, dynamic=False, mode="max-autotune-no-cudagraphs")
    expected = x.double()
    forward = {name: lambda f=f: Undone(f(x), expected) for name, f in functions.items()}
    forward["one_each"] = lambda: Undone(one_draw(x), expected)
    benchmark.case("dropout", "fwd", str(n), dtype, 2 * x.nbytes, n, forward, expected)
    if n == 2**28:
        leaf = x.clone().requires_grad_()
        outputs = {name: f(leaf) for name, f in functions.items()}
        expected = dy.double()
        backward = {
            name: lambda y=y: Undone(torch.autograd.grad(y, leaf, dy, retain_graph=True)[0], expected)
            for name, y in outputs.items()
        }
        benchmark.case("dropout", "bwd", str(n), dtype, 2 * x.nbytes, n, backward, expected)
        del outputs, leaf, backward
    del forward, expected

torch.compiler.reset()
x, residual = (torch.randn(8192, 4096, device="cuda").bfloat16() for _ in range(2))
functions = {
    "blockwise": lambda x, residual: dropout(x, P, 123, residual),
    "eager": plain_add,
    "compile": torch.compile(plain_add, dynamic=False),
}
expected = x.double()
ways = {name: lambda f=f: Undone(f(x, residual), expected, residual) for name, f in functions.items()}
benchmark.case("dropout_add", "fwd", "8192x4096", x.dtype, 3 * x.nbytes, 2 * x.numel(), ways, expected)
benchmark.finish()
