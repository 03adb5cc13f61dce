"""Softmax under PyTorch's name."""

import torch

from kernels.common.arguments import check_dim, check_float_tensor
from kernels.functional.batching import batched, behind, in_front
from kernels.functional.forms import FLOAT32, check_tensors, form, in_autocast
from kernels.functional.transforms import is_transformed, through_reference
from kernels.operators.register import wants_gradient
from kernels.operators.rows import softmax_backward_operator, softmax_operator
from kernels.softmax.softmax import Softmax, softmax_forward


def map_softmax(info, dims, x, dim):
    x = in_front(info, x, dims[0])
    if x.ndim == 1:  # a number in each call, which is a row of one
        return softmax_operator(x[:, None], 1)[:, 0], 0
    return softmax_operator(x, behind(dim)), 0


def map_softmax_backward(info, dims, y, dy, dim):
    y, dy = in_front(info, y, dims[0]), in_front(info, dy, dims[1])
    if y.ndim == 1:
        return softmax_backward_operator(y[:, None], dy[:, None], 1)[:, 0], 0
    return softmax_backward_operator(y, dy, behind(dim)), 0


softmax_batched = batched(softmax_operator, map_softmax)
softmax_backward_batched = batched(softmax_backward_operator, map_softmax_backward)


class SoftmaxTransformed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, dim):
        return softmax_batched(x, dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.dim = inputs[1]
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, dy):
        return SoftmaxSlope.apply(*ctx.saved_tensors, dy, ctx.dim), None


class SoftmaxSlope(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(y, dy, dim):
        return softmax_backward_batched(y, dy, dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        y, dy, ctx.dim = inputs
        ctx.save_for_backward(y, dy)

    @staticmethod
    def backward(ctx, ddx):
        def reference(y, dy):
            return y * (dy - (y * dy).sum(ctx.dim, keepdim=True))

        return *through_reference(reference, ctx.saved_tensors, ddx), None


@form("torch.nn.functional.softmax", refused="`dim=None`, for which PyTorch guesses a dimension and warns", cuda=FLOAT32)
def softmax(
    input: torch.Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """`torch.nn.functional.softmax`, computed by `kernels.softmax`.

    Args:
        input: float32, float16 or bfloat16; with `dtype` anything that can become one of them.
        dim: The dimension that sums to one. It has to be given.
        dtype: What `input` becomes before the rest; None leaves it.

    Returns:
        A tensor of the shape of `input`. Along another `dim` than the last it is not contiguous, and PyTorch's is, so use
            `.reshape` after it and not `.view`; of the meta device it is PyTorch's.

    Raises:
        TypeError: `dim` is None, or the dtype is none of the three.

    Examples:
        >>> import kernels.functional as F
        >>> F.softmax(torch.zeros(2, 4), dim=-1)
        tensor([[0.2500, 0.2500, 0.2500, 0.2500],
                [0.2500, 0.2500, 0.2500, 0.2500]])
    """
    check_tensors(input=input)
    if dim is None:
        raise TypeError("dim: expected an int, got None, for which PyTorch guesses a dimension")
    if input.is_meta:
        return torch.nn.functional.softmax(input, dim, dtype=dtype)
    x = input.to(dtype) if dtype is not None else in_autocast("softmax", input)[0]
    check_float_tensor("input", x)
    dim = check_dim("dim", dim, x)
    if is_transformed(x):
        return SoftmaxTransformed.apply(x, dim)
    if torch.compiler.is_compiling():
        return softmax_operator(x, dim)
    return Softmax.apply(x, dim) if wants_gradient(x) else softmax_forward(x, dim)
