"""Group norm: the norm of images, over some channels of a sample at all their places.

    y = (x - mean) * rstd * weight[channel] + bias[channel],    rstd = 1 / sqrt(variance + eps)

with mean and variance over the channels of a group and all places. For n elements of e bytes, forward reads and writes ne each
where a group stays on chip, and reads another ne where it does not; backward reads 4ne and writes ne, and where the groups at
work fit into the L2 cache, half of what is read comes from there.
"""

import torch

from kernels.common.arguments import check_count, check_float_tensor, check_same_device, on_device_of
from kernels.norm.group_rows import group_norm_backward_launch, group_norm_launch


def check_group_norm_arguments(x, num_groups, weight, bias, eps) -> None:
    """Raise TypeError or ValueError unless a group norm of `x` can be taken with these."""
    check_float_tensor("x", x)
    if x.ndim < 2:
        raise ValueError(f"x: expected samples, channels and any places, got shape {tuple(x.shape)}")
    channels = x.shape[1]
    check_count("num_groups", num_groups, 1, max(channels, 1))
    if channels % num_groups:
        raise ValueError(f"num_groups: expected a divisor of {channels}, the channels of x, got {num_groups}")
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is None:
            continue
        check_float_tensor(name, parameter)
        if parameter.shape != (channels,):
            raise ValueError(f"{name}: expected shape {(channels,)}, the channels of x, got {tuple(parameter.shape)}")
        check_same_device(name, parameter, "x", x)
    if not isinstance(eps, (int, float)) or isinstance(eps, bool):
        raise TypeError(f"eps: expected a number, got {type(eps).__name__}")


def laid_out(x: torch.Tensor | None) -> torch.Tensor | None:
    """The tensor with its elements in the order of its indices, and no sign to be applied."""
    return None if x is None else x.resolve_neg().contiguous()


def group_norm_forward(x, num_groups: int, weight, bias, eps: float, statistics: bool = False) -> tuple:
    """The norm and, with `statistics`, each group's mean and rstd, [N, G]."""
    x = laid_out(x)
    y = torch.empty_like(x)
    mean, rstd = x.new_empty(2, x.shape[0], num_groups, dtype=torch.float32) if statistics else (None, None)
    if x.numel():
        with on_device_of(x):
            group_norm_launch(x, laid_out(weight), laid_out(bias), y, mean, rstd, num_groups, float(eps))
    return y, mean, rstd


def group_norm_backward(x, weight, dy, mean, rstd, dtypes: tuple[torch.dtype | None, torch.dtype | None]) -> tuple:
    """The gradients of x, weight and bias; of the latter two those that have a dtype in `dtypes`, else None."""
    x, dy = laid_out(x), laid_out(dy)
    dx = torch.empty_like(x)
    wanted = any(dtype is not None for dtype in dtypes)
    parts = None
    if x.numel():
        with on_device_of(x):
            parts = group_norm_backward_launch(x, laid_out(weight), dy, mean, rstd, dx, mean.shape[1], wanted)
    if not wanted:
        return dx, None, None
    if parts is None:
        parts = x.new_zeros(2, 1, x.shape[1], dtype=torch.float32)
    return dx, *(None if dtype is None else part.sum(0).to(dtype) for part, dtype in zip(parts, dtypes, strict=True))


class GroupNormFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, num_groups, weight, bias, eps):
        y, mean, rstd = group_norm_forward(x, num_groups, weight, bias, eps, statistics=True)
        ctx.save_for_backward(x, weight, bias, mean, rstd)
        ctx.num_groups, ctx.eps = num_groups, eps
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, bias, mean, rstd = ctx.saved_tensors
        if torch.is_grad_enabled():
            # Somebody differentiates these gradients in turn: PyTorch's own operations know how.
            wanted = [tensor for tensor in (x, weight, bias) if tensor is not None and tensor.requires_grad]
            y = group_norm_reference(x, ctx.num_groups, weight, bias, ctx.eps)
            found = iter(torch.autograd.grad(y, wanted, dy, create_graph=True))
            dx, dweight, dbias = (next(found) if t is not None and t.requires_grad else None for t in (x, weight, bias))
            return dx, None, dweight, dbias, None
        weight_dtype = weight.dtype if ctx.needs_input_grad[2] else None
        bias_dtype = bias.dtype if ctx.needs_input_grad[3] else None
        dx, dweight, dbias = group_norm_backward(x, weight, dy, mean, rstd, (weight_dtype, bias_dtype))
        return dx, None, dweight, dbias, None


def group_norm(
    x: torch.Tensor,
    num_groups: int,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    """Normalize each group of channels of each sample of `x`, as `torch.nn.functional.group_norm` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([[1.0, 3.0, 10.0, 20.0]], device=device)  # a sample of four channels
        print(kernels.group_norm(x, num_groups=2).cpu())
        #> tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
        ```

    Args:
        x: A tensor [N, C, ...] of two dimensions or more, of any strides; float32, float16 or bfloat16. A tensor whose channels
            lie last in memory is copied first.
        num_groups: How many groups the channels fall into, one after the other; a divisor of C.
        weight: What each channel is multiplied by, of shape [C]; one of the three dtypes, not necessarily that of `x`. None
            stands for ones.
        bias: What is then added to each channel, likewise. None stands for zeros.
        eps: Added to the variance, so that a group of equal numbers stays finite.

    Returns:
        A contiguous tensor of the shape and dtype of `x`. The arithmetic is in float32 and rounded once.

    Raises:
        TypeError: An argument is not a tensor or has another dtype, `num_groups` is not an int, or `eps` is not a number.
        ValueError: The shapes or the devices do not match, `x` has fewer than two dimensions, `num_groups` does not divide its
            channels, or a CPU tensor came while Triton's interpreter is off.

    Differentiable, any number of times: the first gradients are kernels, gradients of gradients are PyTorch operations. The
    gradients of `weight` and `bias` are added up in float32 in one order, so that every run gives the same bits.

    Bytes:
        For n elements of e bytes, ne read and ne written forward where a group has at most 8192 elements, its channels and places
        each rounded up to a power of two; 2ne read where it has more. Backward, 4ne read and ne written, half of what is read
        from the L2 cache where the groups that run at once fit into it.

    Flops:
        About 8 for each element forward, 14 backward.

    Source:
        Y. Wu and K. He, "Group normalization", 2018 (arXiv:1803.08494).
    """
    check_group_norm_arguments(x, num_groups, weight, bias, eps)
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, weight, bias)):
        return GroupNormFunction.apply(x, num_groups, weight, bias, eps)
    return group_norm_forward(x, num_groups, weight, bias, eps)[0]


def group_norm_reference(
    x: torch.Tensor,
    num_groups: int,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    """The same operation in plain PyTorch."""
    exact = x if x.dtype == torch.float64 else x.float()
    groups = exact.reshape(x.shape[0], num_groups, -1)
    centered = groups - groups.mean(-1, keepdim=True)
    y = (centered * torch.rsqrt(centered.square().mean(-1, keepdim=True) + eps)).reshape(x.shape)
    channel = (1, -1, *(1 for _ in x.shape[2:]))
    if weight is not None:
        y = y * weight.reshape(channel)
    if bias is not None:
        y = y + bias.reshape(channel)
    return y.to(x.dtype)
