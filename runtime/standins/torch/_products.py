"""Products of matrices and vectors, and comparisons of whole tensors."""

import functools
from typing import Any

import numpy as np
from torch import _dispatch
from torch._autograd import recorded
from torch._dtypes import COMPLEX, dtype, promoted
from torch._methods import method, number_tensor, quiet, written
from torch._pointwise import kind_name
from torch._reductions import widened
from torch._settings import settings
from torch._tensor import Tensor, meta_tensor, operand, tensor_of, values_of

TOLERANCES = {  # relative and absolute, as torch.testing has them
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip


@method("matmul", "__matmul__", "mm", "bmm", "mv", "dot")
@_dispatch.operation("mm")
def matmul(a: Tensor, b: Tensor, out_dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    if settings.autocast and a.dtype.is_floating_point and b.dtype.is_floating_point:
        a, b = a.to(settings.autocast[-1]), b.to(settings.autocast[-1])
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a.dtype.name} != {b.dtype.name}")
    if a.ndim and b.ndim and a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        shapes = " and ".join("x".join(map(str, one.shape)) for one in (a, b))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({shapes})")
    if a.ndim == 1 or b.ndim == 1:
        made = matmul(a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b)
        made = made.squeeze(-1) if b.ndim == 1 else made
        return made.squeeze(-2 if b.ndim > 1 else -1) if a.ndim == 1 else made
    with quiet():
        product = np.matmul(operand(a, a.dtype), operand(b, b.dtype))
    made = tensor_of(product, out_dtype or a.dtype)
    kept = a if b.requires_grad else None, b if a.requires_grad else None
    return written(out, recorded("Mm", made, (a, b), lambda g, a, b: (lambda: g @ b.mT, lambda: a.mT @ g), *kept))


mm = bmm = mv = dot = matmul
Tensor.__rmatmul__ = lambda a, b: matmul(b, a)  # type: ignore[attr-defined]


@method()
@_dispatch.operation("addmm")
def addmm(c: Tensor, a: Tensor, b: Tensor, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """The sum is rounded once, as one kernel would do it."""
    if a.is_meta:
        return meta_tensor((a.shape[0], b.shape[1]), a.dtype)
    product, added = matmul(widened(a), widened(b)), widened(c)
    if (beta, alpha) != (1, 1):
        product, added = product * alpha, added * beta  # type: ignore[operator]
    return written(out, (added + product).to(c.dtype))  # type: ignore[operator]


@method()
def outer(a: Tensor, b: Tensor) -> Tensor:
    return a[:, None] * b[None, :]  # type: ignore[operator]


ger = outer


def einsum(equation: str, *operands: Any) -> Tensor:
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    if any(one.requires_grad for one in given):
        raise NotImplementedError("the stand-in for PyTorch has no gradient of einsum")
    kind = functools.reduce(promoted, (one.dtype for one in given))
    return tensor_of(np.einsum(equation.replace(" ", ""), *(values_of(one) for one in given)), kind)


# Comparing


def wide(a: Tensor) -> np.ndarray:
    return np.asarray(values_of(a)).astype(np.complex128 if a.dtype.kind == COMPLEX else np.float64)


@method()
def isclose(a: Tensor, b: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    return tensor_of(np.isclose(wide(a), wide(b), rtol, atol, equal_nan))


@method()
def allclose(a: Tensor, b: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    if a.dtype is not b.dtype:
        raise RuntimeError(f"{kind_name(a.dtype)} did not match {kind_name(b.dtype)}")
    return bool(isclose(a, b, rtol, atol, equal_nan)._array.all())


@method()
def equal(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and bool(np.array_equal(values_of(a), values_of(b)))


def assert_close(
    actual: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None, equal_nan: bool = False,
    check_dtype: bool = True, msg: Any = None, **options: Any,
) -> None:  # fmt: skip
    """torch.testing.assert_close, with its words."""
    if isinstance(actual, tuple | list):
        for one, other in zip(actual, expected, strict=True):
            assert_close(one, other, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=check_dtype, msg=msg)
        return
    a, b = (value if isinstance(value, Tensor) else number_tensor(value) for value in (actual, expected))
    if text := mismatch(a, b, rtol, atol, equal_nan, check_dtype):
        raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg)


def mismatch(a: Tensor, b: Tensor, rtol: float | None, atol: float | None, equal_nan: bool, check_dtype: bool) -> str:
    """How two tensors differ, or nothing."""
    if a.shape != b.shape:
        return f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}."
    if check_dtype and a.dtype is not b.dtype:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}."
    if rtol is None or atol is None:
        usual = [TOLERANCES.get(one.dtype.name, (0.0, 0.0)) for one in (a, b)]
        rtol, atol = (max(pair) for pair in zip(*usual, strict=True))
    x, y = wide(a), wide(b)
    bad = ~np.isclose(x, y, rtol, atol, equal_nan)
    if not bad.any():
        return ""
    with quiet():
        absolute, relative = np.abs(x - y), np.abs(x - y) / np.abs(y)
    if not a.ndim:
        return (
            f"Scalars are not close!\n\nExpected {b.item()} but got {a.item()}.\n"
            f"Absolute difference: {absolute} (up to {atol} allowed)\nRelative difference: {relative} (up to {rtol} allowed)"
        )
    lines = [f"Mismatched elements: {bad.sum()} / {bad.size} ({bad.sum() / bad.size:.1%})"]
    for name, differences, allowed in (("absolute", absolute, atol), ("relative", relative, rtol)):
        among = np.where(bad, differences, 0)
        at = np.unravel_index(np.argmax(np.where(np.isnan(among), np.inf, among)), among.shape)
        up_to = "" if rtol == atol == 0 else f" (up to {allowed} allowed)"
        lines.append(f"Greatest {name} difference: {among[at]} at index {tuple(int(place) for place in at)}{up_to}")
    return f"Tensor-likes are not {'equal' if rtol == atol == 0 else 'close'}!\n\n" + "\n".join(lines)
