"""Bounds on rounding errors, guarded buffers, and views of every kind."""

import math

import torch

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
FLOAT32_EPS = torch.finfo(torch.float32).eps
GUARD = 123.0


def relative_step(dtype: torch.dtype) -> float:
    """How far rounding to `dtype` may move a number, relative to it, one float32 operation before it included."""
    return torch.finfo(dtype).eps / 2 + FLOAT32_EPS


def atol_of(dtype: torch.dtype) -> float:
    """Half a step of the subnormals of `dtype`; where those are finer than what a GPU's exp flushes to zero, that."""
    info = torch.finfo(dtype)
    return max(info.tiny * info.eps, torch.finfo(torch.float32).tiny)


def softmax_error(x: torch.Tensor, dim: int, dtype: torch.dtype) -> torch.Tensor:
    """What float32 arithmetic and one rounding to `dtype` may leave each element of softmax off by.

    Subtracting the maximum and scaling by log2(e) err by half a step each, which exp turns into an error that grows
    with the distance d from the maximum. exp2 and the division err by two steps each on a GPU, the sum by half a step a level.
    """
    x = x.double()
    expected = torch.softmax(x, dim)
    distance = x.amax(dim, keepdim=True) - x
    mean_distance = torch.nansum(distance * expected, dim, keepdim=True)
    levels = math.log2(max(x.shape[dim] if x.ndim else 1, 1))
    relative = FLOAT32_EPS * (6 + levels / 2 + 1.5 * (distance.clamp(max=1e4) + mean_distance))
    return (relative + relative_step(dtype)) * expected + atol_of(dtype)


def assert_softmax(y: torch.Tensor, x: torch.Tensor, dim: int = -1) -> None:
    """`y` is the softmax of `x`, as exact as float32 arithmetic and one rounding to the dtype of `y` allow."""
    expected = torch.softmax(x.double(), dim)
    assert_within(y, expected, softmax_error(x, dim, y.dtype))


def softmax_backward_64(y: torch.Tensor, dy: torch.Tensor, dim: int = -1) -> torch.Tensor:
    y, dy = y.double(), dy.double()
    return y * (dy - (y * dy).sum(dim, keepdim=True))


def softmax_backward_error(
    y: torch.Tensor, dy: torch.Tensor, dtype: torch.dtype, y_error: torch.Tensor | float = 0.0, dim: int = -1
) -> torch.Tensor:
    """What each element of dx may be off by when each element of `y` may be off by `y_error`."""
    y, dy = y.double(), dy.double()
    levels = math.log2(max(y.shape[dim] if y.ndim else 1, 1))
    difference = dy - (y * dy).sum(dim, keepdim=True)
    in_sum = (((y * FLOAT32_EPS * (1 + levels / 2)) + y_error) * dy.abs()).sum(dim, keepdim=True)
    in_difference = in_sum + FLOAT32_EPS * difference.abs()
    in_product = y * in_difference + y_error * (difference.abs() + in_difference)
    return in_product + relative_step(dtype) * (y * difference).abs() + atol_of(dtype)


def assert_within(actual: torch.Tensor, expected: torch.Tensor, bound: torch.Tensor) -> None:
    """Element by element: NaN where NaN is expected, and nowhere further away than `bound`."""
    assert actual.shape == expected.shape
    actual = actual.double()
    assert torch.equal(actual.isnan(), expected.isnan()), "NaN in other places than expected"
    error = torch.where(expected.isnan() | (actual == expected), 0.0, (actual - expected).abs())
    worst = (error / bound).nan_to_num(nan=0.0).max().item() if error.numel() else 0.0
    assert worst <= 1, f"off by {worst:.3g} times the bound; {int((error > bound).sum())} of {error.numel()} elements"


def guarded(shape: tuple[int, ...], dtype: torch.dtype, device: str, gap: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    """A view full of NaN whose last rows lie `gap` elements apart, and the buffer around it, full of GUARD."""
    *outer, columns = shape
    row = columns + gap
    margin = 5000
    buffer = torch.full((2 * margin + math.prod(outer) * row,), GUARD, dtype=dtype, device=device)
    view = buffer[margin : margin + math.prod(outer) * row].view(*outer, row)[..., :columns]
    view.fill_(float("nan"))
    return view, buffer


def poisoned(values: torch.Tensor, gap: int = 2) -> torch.Tensor:
    """The same values in a buffer whose every other element is NaN, rows `gap` elements apart."""
    view, buffer = guarded(tuple(values.shape), values.dtype, str(values.device), gap)
    buffer.fill_(float("nan"))
    return view.copy_(values)


def assert_guard_untouched(view: torch.Tensor, buffer: torch.Tensor) -> None:
    kept = view.clone()
    view.fill_(GUARD)
    assert bool((buffer == GUARD).all()), "an element outside the output was written"
    view.copy_(kept)


def random(*shape: int, dtype=torch.float32, device: str = "cpu", scale: float = 1.0, seed: int = 0) -> torch.Tensor:
    """Normal random numbers, the same on every machine."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator, dtype=torch.float32) * scale).to(dtype).to(device)


VIEWS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.mT,
    "sliced columns": lambda x: x[..., 1:-2],
    "every other column": lambda x: x[..., ::2],
    "every other row": lambda x: x[..., ::2, :],
    "unaligned": lambda x: x.flatten()[1:],
    "expanded rows": lambda x: x[..., :1, :].expand(x.shape),
    "expanded columns": lambda x: x[..., :1].expand(x.shape),
    "one column": lambda x: x[..., 3:4],
    "one row": lambda x: x[..., 2:3, :],
}
"""Ways in which a tensor can fail to be contiguous, each a function of a tensor of two or more dimensions."""
