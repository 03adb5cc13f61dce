"""Group norm under PyTorch's name."""

import torch

from kernels.functional.batching import batched, folded, in_front, one_by_one, parted
from kernels.functional.forms import FLOAT32, check_tensors, form, in_autocast
from kernels.functional.transforms import as_asked, is_transformed, through_reference
from kernels.norm.group_norm import (
    GroupNormFunction,
    check_group_norm_arguments,
    group_norm_forward,
    group_norm_reference,
)
from kernels.operators.group_norm import group_norm_backward_operator, group_norm_operator
from kernels.operators.register import wants_gradient


def map_group_norm(info, dims, x, num_groups, weight, bias, eps, statistics):
    if dims[2] is not None or dims[3] is not None:
        return one_by_one(group_norm_operator)(info, dims, x, num_groups, weight, bias, eps, statistics)
    y, sums = group_norm_operator(folded(info, x, dims[0]), num_groups, weight, bias, eps, statistics)
    sums = sums.unflatten(1, (info.batch_size, -1)) if statistics else sums[:, None].expand(2, info.batch_size, 0)
    return (parted(info, y), sums), (0, 1)


def map_group_norm_backward(info, dims, x, weight, dy, statistics, weight_dtype, bias_dtype):
    if dims[1] is not None:
        return one_by_one(group_norm_backward_operator)(info, dims, x, weight, dy, statistics, weight_dtype, bias_dtype)
    front = in_front(info, statistics, dims[3])  # [B, 2, N, G]
    groups, slope = folded(info, x, dims[0]), folded(info, dy, dims[2])
    dx = group_norm_backward_operator(groups, weight, slope, front.transpose(0, 1).flatten(1, 2), None, None)[0]
    sums = [x.new_empty(info.batch_size, 0)] * 2
    if weight_dtype is not None or bias_dtype is not None:
        # The sums of each call apart: the kernel adds up all samples that it is given, so PyTorch does this.
        channels = groups.shape[1]
        mean, rstd = (front[:, part].repeat_interleave(channels // front.shape[-1], -1)[..., None] for part in (0, 1))
        numbers, slope = (one.float().reshape(*front.shape[0:1], -1, channels, one[0, 0].numel()) for one in (groups, slope))
        parts = zip((slope * (numbers - mean) * rstd, slope), (weight_dtype, bias_dtype), strict=True)
        sums = [none if dtype is None else part.sum((1, 3)).to(dtype) for none, (part, dtype) in zip(sums, parts, strict=True)]
    return (parted(info, dx), *sums), (0, 0, 0)


group_norm_batched = batched(group_norm_operator, map_group_norm)
group_norm_backward_batched = batched(group_norm_backward_operator, map_group_norm_backward)


class GroupNormTransformed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, num_groups, weight, bias, eps):
        return group_norm_batched(x, num_groups, weight, bias, eps, True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.num_groups, weight, bias, ctx.eps = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(x, weight, bias, output[1])

    @staticmethod
    def backward(ctx, dy, _):
        x, weight, bias, statistics = ctx.saved_tensors
        dtypes = tuple(None if one is None else one.dtype for one in (weight, bias))
        found = GroupNormSlope.apply(x, weight, dy, statistics, dtypes, ctx.num_groups, ctx.eps)
        return as_asked(ctx, 5, {0: found[0]} | {n + 1: found[n] for n in (1, 2) if dtypes[n - 1] is not None})


class GroupNormSlope(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, weight, dy, statistics, dtypes, num_groups, eps):
        return group_norm_backward_batched(x, weight, dy, statistics, *dtypes)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, dy, _, ctx.dtypes, ctx.num_groups, ctx.eps = inputs
        ctx.save_for_backward(x, weight, dy)

    @staticmethod
    def backward(ctx, *gradients):
        x, weight, dy = ctx.saved_tensors
        dtypes = (x.dtype, *ctx.dtypes)

        def reference(x, dy, *weights):
            parameters = [x.new_ones(x.shape[1]), x.new_zeros(x.shape[1])]
            parameters[: len(weights)] = weights

            def forward(x, weight, bias):
                return group_norm_reference(x, ctx.num_groups, weight, bias, ctx.eps)

            found = through_reference(forward, (x, *parameters), dy)
            return tuple(part.to(dtype) for part, dtype in zip(found, dtypes, strict=True) if dtype is not None)

        given = tuple(part for part, dtype in zip(gradients, dtypes, strict=True) if dtype is not None)
        dx, ddy, *rest = through_reference(reference, (x, dy) if weight is None else (x, dy, weight), given)
        return as_asked(ctx, 7, {0: dx, 2: ddy} | ({1: rest[0]} if rest else {}))


@form("torch.nn.functional.group_norm", cuda=FLOAT32)
def group_norm(
    input: torch.Tensor,
    num_groups: int,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    """`torch.nn.functional.group_norm`, computed by `kernels.group_norm`.

    A group of a single number becomes zero before the weight and the bias, also of one sample, where PyTorch refuses it.

    Examples:
        >>> import kernels.functional as F
        >>> F.group_norm(torch.tensor([[1.0, 3.0, 10.0, 30.0]]), 2)
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    check_tensors("weight", "bias", input=input, weight=weight, bias=bias)
    if input.is_meta:
        return torch.nn.functional.group_norm(input, num_groups, weight, bias, eps)
    x, weight, bias = in_autocast("group_norm", input, weight, bias)
    check_group_norm_arguments(x, num_groups, weight, bias, eps)
    if is_transformed(x, weight, bias):
        return GroupNormTransformed.apply(x, num_groups, weight, bias, eps)[0]
    wanted = wants_gradient(x, weight, bias)
    if torch.compiler.is_compiling():
        return group_norm_operator(x, num_groups, weight, bias, eps, wanted)[0]
    if wanted:
        return GroupNormFunction.apply(x, num_groups, weight, bias, eps)
    return group_norm_forward(x, num_groups, weight, bias, eps)[0]
