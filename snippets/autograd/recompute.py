"""Save or recompute: a softmax backward that takes x, and works out y again, beside one that takes y."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]

from kernels.tools.benchmark import Benchmark
from kernels.softmax.softmax import softmax_row_backward


# --8<-- [start:recompute]
@triton.jit
def recomputing_backward_kernel(x_ptr, dy_ptr, dx_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    offsets = tl.program_id(0).to(tl.int64) * n_columns + columns
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))  # the forward pass once more
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(dx_ptr + offsets, y * (dy - tl.sum(y * dy, axis=0)), mask=mask)


def recomputing_backward(x, dy):
    dx = torch.empty_like(x)
    n_rows, n_columns = x.shape
    block = triton.next_power_of_2(n_columns)
    sizes = {"BLOCK": block, "num_warps": 16}
    recomputing_backward_kernel[(n_rows,)](x, dy, dx, n_columns, **sizes)
    return dx


device = "cuda" if torch.cuda.is_available() else "cpu"
x, dy = torch.randn(2, 8, 300, device=device)
y = torch.softmax(x, dim=-1)
expected = y * (dy - (y * dy).sum(-1, keepdim=True))
torch.testing.assert_close(recomputing_backward(x, dy), expected)
print("from x alone: the same gradient")
#> from x alone: the same gradient
# --8<-- [end:recompute]

if device == "cuda":
    benchmark = Benchmark()
    x = torch.randn(8192, 4096, device="cuda").bfloat16()
    dy = torch.randn(8192, 4096, device="cuda").bfloat16()
    y = torch.softmax(x, dim=-1)
    ways = {
        "save": lambda: softmax_row_backward(y, dy, torch.empty_like(y)),
        "recompute": lambda: recomputing_backward(x, dy),
    }
    expected = torch.softmax(x.double(), dim=-1)
    expected = expected * (dy.double() - (expected * dy.double()).sum(-1, keepdim=True))
    benchmark.case("softmax_gradient", "bwd", "8192x4096", x.dtype, 3 * x.nbytes, None, ways, expected)
    benchmark.finish()
