"""What layer norm and RMS norm share: the checks, the choice of a kernel, and the way through autograd.

Both bring every row to one scale, y = n * weight + bias with n = (x - mean) * rstd; RMS norm leaves out the mean, and has
no bias. `centered` says which of the two is meant. Rows of up to `NORM_FORWARD_ROW` (forward) and `NORM_BACKWARD_ROW`
(backward) stay on chip; longer ones take the kernels of the files whose names end in `long`, and so do some of those that would
fit. Of few and very long rows, those of `norm_forward_split` give each to many programs; `norm_route` and `norm_backward_route`
say which serves a shape.
"""

import functools

import torch

from kernels.common.arguments import FLOAT_DTYPES, check_float_tensor, check_same_device, on_device_of
from kernels.norm.backward import norm_tile_backward
from kernels.norm.backward_long import norm_long_backward
from kernels.norm.forward import norm_tile, norm_vector
from kernels.norm.forward_long import norm_long
from kernels.norm.forward_split import norm_split

NORM_FORWARD_ROW = 16384
NORM_BACKWARD_ROW = 16384
# At most so many rows, all longer than so many columns, are split over programs; the second line is of rows with narrow loads.
NORM_SPLIT = ((64, 32768), (128, 131072))
NORM_SPLIT_NARROW = ((64, 16384), (256, 65536))


@functools.lru_cache(maxsize=4096)
def norm_route(n_rows: int, n_columns: int, row_stride: int, element_size: int, centered: bool) -> str:
    """Say in a word which kernel serves the forward pass of such rows: `tile`, `long` or `split`.

    The limits are where one kernel overtook another when all were timed on one GPU, an H200.
    """
    load = element_size * norm_vector(element_size, n_columns, row_stride)  # bytes
    if n_columns > NORM_FORWARD_ROW:
        limits = NORM_SPLIT if load == 16 else NORM_SPLIT_NARROW
        return "split" if any(n_rows <= most and n_columns > least for most, least in limits) else "long"
    if n_columns > 1024 * load:
        # Many narrow loads at once take the registers of their addresses; that matters where programs have to share them.
        return "tile" if n_rows <= (256 if n_columns <= 8192 else 128) else "long"
    return "long" if n_columns == 8192 and element_size == 2 and not centered else "tile"


def norm_backward_route(n_rows: int, n_columns: int, strides: tuple, element_size: int, centered: bool) -> str:
    """Say in a word which kernels serve the backward pass of such rows: `tile` or `long`."""
    if n_columns > NORM_BACKWARD_ROW or n_columns <= 8192:
        return "tile" if n_columns <= NORM_BACKWARD_ROW else "long"
    # A program has room for one such row, or not for all of it. Two launches do better unless there are many rows of wide loads.
    load = element_size * norm_vector(element_size, n_columns, *strides)  # bytes
    return "long" if n_rows <= 1024 or load <= 4 or (centered and element_size == 4) else "tile"


NORM_FORWARD = {"tile": norm_tile, "long": norm_long, "split": norm_split}


def check_norm_parameter(name: str, parameter, x: torch.Tensor) -> None:
    """Raise TypeError or ValueError unless `parameter` holds a number for every column of `x`."""
    check_float_tensor(name, parameter)
    if parameter.shape != x.shape[-1:]:
        expected = f"shape {tuple(x.shape[-1:])}, the last dimension of x"
        raise ValueError(f"{name}: expected {expected}, got {tuple(parameter.shape)}")
    check_same_device(name, parameter, "x", x)


def check_norm_arguments(x, weight, bias, eps, prefix: str = "") -> None:
    """Raise TypeError or ValueError unless a norm over the last dimension of `x` can be taken with these."""
    check_float_tensor("x", x)
    if x.ndim == 0:
        raise ValueError("x: expected at least one dimension, got shape ()")
    row, device = x.shape[-1:], x.device
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and not (
            isinstance(parameter, torch.Tensor)
            and parameter.dtype in FLOAT_DTYPES
            and parameter.shape == row
            and parameter.device == device
        ):
            check_norm_parameter(prefix + name, parameter, x)  # says what is wrong with it
    if not isinstance(eps, (int, float)) or isinstance(eps, bool):
        raise TypeError(f"eps: expected a number, got {type(eps).__name__}")


def norm_rows(x: torch.Tensor) -> torch.Tensor:
    """`x` as [rows, columns], the elements of a row side by side; copied only where the strides leave no other way."""
    if x.is_neg():
        x = x.resolve_neg()
    if x.ndim != 2:
        x = x.reshape(-1, x.shape[-1])
    return x if x.stride()[1] == 1 else x.contiguous()


def norm_parameter(parameter: torch.Tensor | None) -> torch.Tensor | None:
    if parameter is None or (parameter.is_contiguous() and not parameter.is_neg()):
        return parameter
    return parameter.resolve_neg().contiguous()


def norm_forward(x, weight, bias, eps: float, centered: bool, statistics: bool = False) -> tuple:
    """The result and, with `statistics`, each row's mean (None unless `centered`) and rstd, which the backward pass needs."""
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    n_columns = x.shape[-1]
    mean = rstd = None
    if statistics:
        rstd = x.new_empty(x.shape[:-1].numel(), dtype=torch.float32)
        mean = torch.empty_like(rstd) if centered else None
    if x.numel():
        x_rows, y_rows = norm_rows(x), y if y.ndim == 2 else y.view(-1, n_columns)
        weight, bias = norm_parameter(weight), norm_parameter(bias)
        route = norm_route(*x_rows.shape, x_rows.stride()[0], x.element_size(), centered)
        with on_device_of(x):
            NORM_FORWARD[route](x_rows, weight, bias, y_rows, mean, rstd, float(eps), centered)
    return y, mean, rstd


def norm_backward(x, weight, dy, mean, rstd, dtypes: tuple) -> tuple:
    """dx, dweight and dbias; `dtypes` are those of the last two, None for one that nobody needs."""
    n_columns = x.shape[-1]
    if not x.numel():
        dweight, dbias = (None if dtype is None else torch.zeros(n_columns, dtype=dtype, device=x.device) for dtype in dtypes)
        return torch.empty_like(x), dweight, dbias
    dx = torch.empty_like(x, memory_format=torch.contiguous_format)
    x_rows, dy_rows, dx_rows = norm_rows(x), norm_rows(dy), dx if dx.ndim == 2 else dx.view(-1, n_columns)
    strides = (x_rows.stride()[0], dy_rows.stride()[0], dx_rows.stride()[0])
    route = norm_backward_route(x_rows.shape[0], n_columns, strides, x.element_size(), centered=mean is not None)
    run = norm_tile_backward if route == "tile" else norm_long_backward
    arguments = (x_rows, norm_parameter(weight), dy_rows, mean, rstd, dx_rows)
    with on_device_of(x):
        return dx, *run(*arguments, dtypes)


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps, centered):
        y, mean, rstd = norm_forward(x, weight, bias, eps, centered, statistics=True)
        ctx.save_for_backward(x, weight, mean, rstd)
        ctx.bias_dtype = None if bias is None else bias.dtype
        ctx.eps, ctx.centered = eps, centered
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, mean, rstd = ctx.saved_tensors
        if torch.is_grad_enabled():
            # Somebody differentiates these gradients in turn: PyTorch's own operations know how.
            gradients = norm_backward_reference(x, weight, dy, ctx.eps, ctx.centered)
            stored = (x.dtype, None if weight is None else weight.dtype, ctx.bias_dtype)
            return *(None if dtype is None else d.to(dtype) for d, dtype in zip(gradients, stored, strict=True)), None, None
        needed = ctx.needs_input_grad
        dtypes = (weight.dtype if needed[1] else None, ctx.bias_dtype if needed[2] else None)
        return *norm_backward(x, weight, dy, mean, rstd, dtypes), None, None


def norm_backward_reference(x, weight, dy, eps: float, centered: bool) -> tuple:
    """The gradients in plain PyTorch, in float32: of x, of the weight, and of the bias."""
    x, dy = x.float(), dy.float()
    if centered:
        x = x - x.mean(-1, keepdim=True)
    rstd = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    normal = x * rstd
    g = dy if weight is None else dy * weight.float()
    dx = g - normal * (g * normal).mean(-1, keepdim=True)
    if centered:
        dx = dx - g.mean(-1, keepdim=True)
    n_columns = x.shape[-1]
    return dx * rstd, (dy * normal).reshape(-1, n_columns).sum(0), dy.reshape(-1, n_columns).sum(0)
