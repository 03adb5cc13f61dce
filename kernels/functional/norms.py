"""Layer norm and RMS norm under PyTorch's names, over as many last dimensions as `normalized_shape` says."""

import torch

from kernels.functional.batching import batched, in_front, nothing, one_by_one, parted
from kernels.functional.forms import FLOAT32, FROM_2_12, check_tensors, form, in_autocast
from kernels.functional.transforms import as_asked, is_transformed, through_reference
from kernels.norm.norm import Norm, check_norm_arguments, norm_backward_reference, norm_forward
from kernels.operators.register import wants_gradient
from kernels.operators.rows import norm_backward_operator, norm_operator


def map_norm(info, dims, x, weight, bias, eps, centered, statistics):
    if dims[1] is not None or dims[2] is not None:
        return one_by_one(norm_operator)(info, dims, x, weight, bias, eps, centered, statistics)
    x = in_front(info, x, dims[0])
    y, *sums = norm_operator(x, weight, bias, eps, centered, statistics)
    sums = [nothing(info, one) if one.numel() == 0 else parted(info, one) for one in sums]
    return (y, *sums), (0, 0, 0)


def map_norm_backward(info, dims, x, weight, dy, mean, rstd, weight_dtype, bias_dtype):
    if dims[1] is not None:
        return one_by_one(norm_backward_operator)(info, dims, x, weight, dy, mean, rstd, weight_dtype, bias_dtype)
    x, dy = in_front(info, x, dims[0]), in_front(info, dy, dims[2])
    mean, rstd = (in_front(info, one, dim).contiguous() for one, dim in ((mean, dims[3]), (rstd, dims[4])))
    dx = norm_backward_operator(x, weight, dy, mean.reshape(-1), rstd.reshape(-1), None, None)[0]
    sums = [x.new_empty(info.batch_size, 0)] * 2
    if weight_dtype is not None or bias_dtype is not None:
        # The sums of each call apart: the kernel adds up all rows that it is given, so PyTorch does this.
        rows, slope = x.reshape(*rstd.shape, -1).float(), dy.reshape(*rstd.shape, -1).float()
        normal = (rows - mean[..., None] if mean.numel() else rows) * rstd[..., None]
        parts = zip((slope * normal, slope), (weight_dtype, bias_dtype), strict=True)
        sums = [none if dtype is None else part.sum(1).to(dtype) for none, (part, dtype) in zip(sums, parts, strict=True)]
    return (dx, *sums), (0, 0, 0)


norm_batched = batched(norm_operator, map_norm)
norm_backward_batched = batched(norm_backward_operator, map_norm_backward)


class NormTransformed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, weight, bias, eps, centered):
        return norm_batched(x, weight, bias, eps, centered, True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, bias, ctx.eps, ctx.centered = inputs
        ctx.bias_dtype = None if bias is None else bias.dtype
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(x, weight, *output[1:])

    @staticmethod
    def backward(ctx, dy, *_):
        x, weight, mean, rstd = ctx.saved_tensors
        dtypes = (None if weight is None or not ctx.needs_input_grad[1] else weight.dtype, ctx.bias_dtype)
        found = NormSlope.apply(x, weight, dy, mean, rstd, dtypes, ctx.eps, ctx.centered)
        return as_asked(ctx, 5, {0: found[0]} | {n: found[n] for n in (1, 2) if dtypes[n - 1] is not None})


class NormSlope(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, weight, dy, mean, rstd, dtypes, eps, centered):
        return norm_backward_batched(x, weight, dy, mean, rstd, *dtypes)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, dy, _, _, ctx.dtypes, ctx.eps, ctx.centered = inputs
        ctx.save_for_backward(x, weight, dy)

    @staticmethod
    def backward(ctx, *gradients):
        x, weight, dy = ctx.saved_tensors
        dtypes = (x.dtype, *ctx.dtypes)

        def reference(x, dy, *weights):
            found = norm_backward_reference(x, weights[0] if weights else None, dy, ctx.eps, ctx.centered)
            return tuple(part.to(dtype) for part, dtype in zip(found, dtypes, strict=True) if dtype is not None)

        given = tuple(part for part, dtype in zip(gradients, dtypes, strict=True) if dtype is not None)
        dx, ddy, *rest = through_reference(reference, (x, dy) if weight is None else (x, dy, weight), given)
        return as_asked(ctx, 8, {0: dx, 2: ddy} | ({1: rest[0]} if rest else {}))


def checked_shape(x: torch.Tensor, normalized_shape, **parameters: torch.Tensor | None) -> int:
    """How many last dimensions a norm goes over; raise unless they and the parameters have `normalized_shape`."""
    if not isinstance(normalized_shape, tuple | list):
        raise TypeError(f"normalized_shape: expected a tuple of int, got {type(normalized_shape).__name__}")
    shape = tuple(normalized_shape)
    if not shape or x.ndim < len(shape) or tuple(x.shape[-len(shape) :]) != shape:
        raise ValueError(f"normalized_shape: expected the last dimensions of input, of shape {tuple(x.shape)}, got {shape}")
    for name, parameter in parameters.items():
        if parameter is not None and tuple(parameter.shape) != shape:
            raise ValueError(f"{name}: expected shape {shape}, as normalized_shape says, got {tuple(parameter.shape)}")
    return len(shape)


def norm_over(name: str, x, normalized_shape, weight, bias, eps: float, centered: bool) -> torch.Tensor:
    x, weight, bias = in_autocast(name, x, weight, bias)
    count = checked_shape(x, normalized_shape, weight=weight, bias=bias)
    shape = x.shape
    if count > 1:
        x = x.flatten(-count)
        weight, bias = (None if parameter is None else parameter.flatten() for parameter in (weight, bias))
    check_norm_arguments(x, weight, bias, eps)
    if is_transformed(x, weight, bias):
        y = NormTransformed.apply(x, weight, bias, eps, centered)[0]
    elif torch.compiler.is_compiling():
        y = norm_batched(x, weight, bias, eps, centered, wants_gradient(x, weight, bias))[0]
    elif wants_gradient(x, weight, bias):
        y = Norm.apply(x, weight, bias, eps, centered)
    else:
        y = norm_forward(x, weight, bias, eps, centered)[0]
    return y if count == 1 else y.view(shape)


@form("torch.nn.functional.layer_norm", composed="Several dimensions are made one first.", cuda=FLOAT32)
def layer_norm(
    input: torch.Tensor,
    normalized_shape: tuple[int, ...] | list[int],
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    """`torch.nn.functional.layer_norm`, computed by `kernels.layer_norm`.

    `weight` and `bias` have the shape `normalized_shape`, and need not have the dtype of `input`.

    Examples:
        >>> import kernels.functional as F
        >>> x = torch.arange(12.0).view(2, 2, 3)
        >>> F.layer_norm(x, (2, 3)).sum((1, 2))
        tensor([0., 0.])
    """
    check_tensors("weight", "bias", input=input, weight=weight, bias=bias)
    if input.is_meta:
        return torch.nn.functional.layer_norm(input, normalized_shape, weight, bias, eps)
    return norm_over("layer_norm", input, normalized_shape, weight, bias, eps, True)


@form(
    "torch.nn.functional.rms_norm",
    composed="Several dimensions are made one first. `eps=None` is float32's for every dtype.",
    cuda=FROM_2_12,
)
def rms_norm(
    input: torch.Tensor,
    normalized_shape: tuple[int, ...] | list[int],
    weight: torch.Tensor | None = None,
    eps: float | None = None,
) -> torch.Tensor:
    """`torch.nn.functional.rms_norm`, computed by `kernels.rms_norm`.

    Examples:
        >>> import kernels.functional as F
        >>> F.rms_norm(torch.tensor([[3.0, 4.0]]), (2,))
        tensor([[0.8485, 1.1314]])
    """
    check_tensors("weight", input=input, weight=weight)
    if input.is_meta:
        return torch.nn.functional.rms_norm(input, normalized_shape, weight, eps)
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    return norm_over("rms_norm", input, normalized_shape, weight, None, eps, False)
