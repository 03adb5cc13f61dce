"""A forward kernel, a backward kernel, and the class that tells PyTorch that they belong together."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

# --8<-- [start:forward]
from kernels.softmax.softmax import softmax_row
# --8<-- [end:forward]


# --8<-- [start:kernel]
@triton.jit
def row_gradient_kernel(y_ptr, dy_ptr, dx_ptr, n_columns, BLOCK: tl.constexpr):
    # This program owns one row.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    offsets = row * n_columns + columns  # [BLOCK]
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    dot = tl.sum(y * dy, axis=0)
    tl.store(dx_ptr + offsets, y * (dy - dot), mask=mask)


def row_gradient(y, dy):
    dx = torch.empty_like(y)
    rows, columns = y.shape
    block = triton.next_power_of_2(columns)
    row_gradient_kernel[(rows,)](y, dy, dx, columns, BLOCK=block)
    return dx
# --8<-- [end:kernel]


# --8<-- [start:function]
class RowSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = softmax_row(x, torch.empty_like(x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        return row_gradient(y, dy.contiguous())


def row_softmax(x):
    return RowSoftmax.apply(x.contiguous())
# --8<-- [end:function]


# --8<-- [start:use]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(8, 300, device=device, requires_grad=True)
weights = torch.randn(8, 300, device=device)
(ours,) = torch.autograd.grad((row_softmax(x) * weights).sum(), x)
(theirs,) = torch.autograd.grad((torch.softmax(x, dim=-1) * weights).sum(), x)
torch.testing.assert_close(ours, theirs)
print("recorded as:", type(row_softmax(x).grad_fn).__name__)
#> recorded as: RowSoftmaxBackward
# --8<-- [end:use]

import warnings

warnings.filterwarnings("ignore", message="Input #0 requires gradient and is not a double")


# --8<-- [start:check]
from torch.autograd import gradcheck


class Forgetful(RowSoftmax):
    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        return y * dy.contiguous()  # the row's sum is missing


small = torch.randn(3, 7, device=device, requires_grad=True)
in_float32 = {"eps": 1e-2, "atol": 1e-3, "rtol": 1e-2, "raise_exception": False}
print("the pair:", gradcheck(row_softmax, small, **in_float32))
#> the pair: True
print("a term missing:", gradcheck(Forgetful.apply, small, **in_float32))
#> a term missing: False
# --8<-- [end:check]


# --8<-- [start:trusting]
class Trusting(RowSoftmax):
    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        return row_gradient(y, dy)  # as if dy had no gaps


print("gradcheck:", gradcheck(Trusting.apply, small, **in_float32))
#> gradcheck: True
turned = weights.T.contiguous()
(ours,) = torch.autograd.grad((Trusting.apply(x).T * turned).sum(), x)
print("behind a transpose:", torch.allclose(ours, theirs, atol=1e-6))
#> behind a transpose: False
# --8<-- [end:trusting]
assert not torch.allclose(ours, theirs, atol=1e-6)
