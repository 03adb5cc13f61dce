"""Tensors as PyTorch prints them."""

import math
from typing import Any

import numpy as np
from torch._dtypes import FLOAT, dtype
from torch._settings import settings
from torch._tensor import Tensor, values_of


class Format:
    """How wide the numbers of a tensor are, and whether they need an exponent."""

    def __init__(self, values: np.ndarray, kind: dtype):
        self.is_floating, self.width, self.with_exponent, self.whole = kind.kind == FLOAT, 1, False, True
        listed = values.reshape(-1).tolist()
        if self.is_floating:
            sizes = np.abs(values.astype(np.float64).reshape(-1))
            sizes = sizes[np.isfinite(sizes) & (sizes != 0)]
            self.whole = bool((np.ceil(sizes) == sizes).all())
            if sizes.size:
                wide = sizes.max() / sizes.min() > 1000.0 or sizes.min() < 1e-4
                self.with_exponent = bool(sizes.max() > 1e8 or (wide and not self.whole))
            listed = values.astype(np.float64).reshape(-1).tolist()
        self.width = max([1, *(len(self(value).lstrip()) for value in listed)])

    def __call__(self, value: Any) -> str:
        if not self.is_floating:
            return f"{value!s:>{self.width}}"
        digits = settings.printing["precision"]
        if not math.isfinite(value):
            text = str(value)
        elif self.with_exponent:
            text = f"{value:.{digits}e}"
        else:
            text = f"{value:.0f}." if self.whole else f"{value:.{digits}f}"
        return text.rjust(self.width)


def lines(values: np.ndarray, indent: int, is_short: bool, formatted: Format) -> str:
    edge = settings.printing["edgeitems"]
    if values.ndim == 0:
        return formatted(values.item()) if formatted.is_floating else str(values.item())
    if values.ndim == 1:
        in_row = max(1, (settings.printing["linewidth"] - indent) // (formatted.width + 2))
        if is_short and values.size > 2 * edge:
            ends = [formatted(value) for value in [*values[:edge].tolist(), *values[-edge:].tolist()]]
            items = [*ends[:edge], " ...", *ends[edge:]]
        else:
            items = [formatted(value) for value in values.tolist()]
        rows = [", ".join(items[start : start + in_row]) for start in range(0, len(items), in_row)]
        return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"
    cut = is_short and len(values) > 2 * edge
    places = [*range(edge), None, *range(len(values) - edge, len(values))] if cut else range(len(values))
    parts = ["..." if place is None else lines(values[place], indent + 1, is_short, formatted) for place in places]
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def shown(tensor: Tensor) -> str:
    values = np.asarray(values_of(tensor))
    is_short, seen, edge = values.size > settings.printing["threshold"], values, settings.printing["edgeitems"]
    for axis, size in enumerate(values.shape) if is_short else ():
        if size > 2 * edge:
            seen = np.take(seen, [*range(edge), *range(size - edge, size)], axis)
    text = lines(values, len("tensor("), is_short, Format(seen, tensor.dtype)) if values.size else "[]"
    text += f", size={tuple(values.shape)}" if not values.size and values.ndim != 1 else ""
    text += f", dtype={tensor.dtype!r}" if tensor.dtype.name not in ("float32", "int64", "bool") else ""
    if tensor._node is not None:
        return f"tensor({text}, grad_fn=<{type(tensor._node).__name__}>)"
    return f"tensor({text}{', requires_grad=True' if tensor.requires_grad else ''})"


def set_printoptions(
    precision: Any = None, threshold: Any = None, edgeitems: Any = None, linewidth: Any = None, **others: Any
) -> None:
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    settings.printing = settings.printing | {name: value for name, value in given.items() if value is not None}
