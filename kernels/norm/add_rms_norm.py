"""A residual added and normalized in one kernel: what stands between any two blocks of a language model.

    h = x + residual,    y = h * rstd * weight,    rstd = 1 / sqrt(mean(h^2) + eps)

One after the other, the addition writes h and the norm reads it again. For n elements of e bytes together they read 2ne and write
2ne; backward, 3ne are read and ne written. The gradient of x and that of the residual are one tensor.
"""

import torch

from kernels.common.arguments import check_like, on_device_of
from kernels.norm.add_rows import add_rms_norm_tile, add_rms_norm_tile_backward
from kernels.norm.norm import (
    check_norm_arguments,
    norm_backward,
    norm_backward_reference,
    norm_forward,
    norm_parameter,
    norm_rows,
)

# Longer rows are added by PyTorch and normalized by the kernels of RMS norm.
ADD_RMS_NORM_ROW = 8192


def add_rms_norm_forward(x, residual, weight, eps: float, statistics: bool = False) -> tuple:
    """The normalized sum, the sum and, with `statistics`, each row's rstd."""
    if x.shape[-1] > ADD_RMS_NORM_ROW or not x.numel():
        total = (x + residual).contiguous()
        y, _, rstd = norm_forward(total, weight, None, eps, False, statistics)
        return y, total, rstd
    y, total = (torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(2))
    rstd = x.new_empty(x.shape[:-1].numel(), dtype=torch.float32) if statistics else None
    shape = (-1, x.shape[-1])
    with on_device_of(x):
        add_rms_norm_tile(
            *(norm_rows(x), norm_rows(residual), norm_parameter(weight), y.view(shape), total.view(shape), rstd, float(eps))
        )
    return y, total, rstd


def add_rms_norm_backward(total, weight, dy, dsum, rstd, dtype: torch.dtype | None) -> tuple:
    """The gradient of x, which is also that of the residual, and of the weight, None without a dtype."""
    if total.shape[-1] > ADD_RMS_NORM_ROW or not total.numel():
        dx, dweight, _ = norm_backward(total, weight, dy, None, rstd, (dtype, None))
        return dx if dsum is None else dx + dsum, dweight
    dx = torch.empty_like(total)
    shape = (-1, total.shape[-1])
    dsum_rows = None if dsum is None else norm_rows(dsum)
    with on_device_of(total):
        dweight = add_rms_norm_tile_backward(
            *(total.view(shape), norm_parameter(weight), norm_rows(dy), dsum_rows, rstd, dx.view(shape), dtype)
        )
    return dx, dweight


class AddRMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, weight, eps):
        y, total, rstd = add_rms_norm_forward(x, residual, weight, eps, statistics=True)
        ctx.save_for_backward(total, weight, rstd)
        ctx.set_materialize_grads(False)
        ctx.eps = eps
        return y, total

    @staticmethod
    def backward(ctx, dy, dsum):
        total, weight, rstd = ctx.saved_tensors
        if dy is None:  # the normalized sum went nowhere
            return dsum, dsum, None, None
        if torch.is_grad_enabled():
            # Somebody differentiates these gradients in turn: PyTorch's own operations know how.
            dx, dweight, _ = norm_backward_reference(total, weight, dy, ctx.eps, False)
            dx = (dx if dsum is None else dx + dsum.float()).to(total.dtype)
            return dx, dx, None if weight is None else dweight.to(weight.dtype), None
        dtype = weight.dtype if ctx.needs_input_grad[2] else None
        dx, dweight = add_rms_norm_backward(total, weight, dy, dsum, rstd, dtype)
        return dx, dx, dweight, None


def add_rms_norm(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor | None = None, eps: float | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Add a residual to `x` and normalize the sum along its last dimension, as an addition and `rms_norm` after it do.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([[1.0, 1.0]], device=device)
        normalized, residual = kernels.add_rms_norm(x, torch.tensor([[2.0, 3.0]], device=device))
        print(residual.tolist(), normalized.cpu())
        #> [[3.0, 4.0]] tensor([[0.8485, 1.1314]])
        ```

    Args:
        x: A tensor of one dimension or more, of any shape and strides; float32, float16 or bfloat16.
        residual: What is added to it, of the shape, dtype and device of `x`.
        weight: What each element of a row is multiplied by, of shape `x.shape[-1:]`; one of the three dtypes, not
            necessarily that of `x`. None stands for ones.
        eps: Added to the mean square. None stands for the distance from 1 to the next float32, about 1.2e-7.

    Returns:
        The normalized sum and the sum, which is the next residual: two tensors of the shape and dtype of `x`. The sum is
            rounded to that dtype before it is normalized, the rest of the arithmetic is in float32.

    Raises:
        TypeError: An argument is not a tensor or has another dtype, or `eps` is not a number.
        ValueError: The shapes or the devices do not match, `x` has no dimension, or a CPU tensor came while Triton's
            interpreter is off.

    Differentiable, any number of times: the first gradients are kernels, gradients of gradients are PyTorch operations.
    `x` and `residual` get the same gradient, one tensor for both. The gradient of `weight` is added up in float32 in one
    order, so that every run gives the same bits.

    Bytes:
        For n elements of e bytes, 2ne read and 2ne written forward; 3ne read and ne written backward. Rows of more than
        8192 elements are added first and normalized by the kernels of `rms_norm`, another ne in each direction.

    Flops:
        About 5 for each element forward, 11 backward.

    Source:
        B. Zhang and R. Sennrich, "Root mean square layer normalization", 2019 (arXiv:1910.07467).
    """
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    check_norm_arguments(x, weight, None, eps)
    check_like("residual", residual, "x", x)
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, residual, weight)):
        return AddRMSNorm.apply(x, residual, weight, eps)
    return add_rms_norm_forward(x, residual, weight, eps)[:2]


def add_rms_norm_reference(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor | None = None, eps: float | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same operation in plain PyTorch."""
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    h = x + residual
    y = h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)
    return y if weight is None else y * weight, h
