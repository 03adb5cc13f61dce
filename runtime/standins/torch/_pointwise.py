"""Element by element: arithmetic, comparisons, functions of one argument, and choices, each with its derivative.

A derivative is a function of the gradient and of what was kept. It gives one gradient for each input, or a function that makes
it, so that nothing is computed for an input that asks for no gradient.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from torch import _dispatch
from torch._autograd import recorded
from torch._dtypes import BOOL, FLOAT, boolean, default_dtype, dtype, encoded
from torch._methods import method, number_tensor, quiet, written
from torch._settings import settings
from torch._tensor import Tensor, meta_tensor, operand, result_type, tensor_of, values_of

NUMBERS = (int, float, complex, bool, np.generic)


def is_on_tape(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def binary(
    name: str, compute: Callable, back: Callable | None = None, keeps: tuple[str, str] = ("", ""), result: str = "",
) -> Callable:  # fmt: skip
    """A function of two arguments. `keeps` says which of them, a and b, the gradients of a and of b need.

    `result` is "float" where integers give floats, and "bool" for comparisons.
    """

    @_dispatch.operation(name.lower().rstrip("_"))
    def op(a: Any, b: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Any:
        if not isinstance(a, Tensor) and not isinstance(b, Tensor):
            a = number_tensor(a)
        if not isinstance(b, (Tensor, *NUMBERS)):
            return NotImplemented
        b = b if isinstance(alpha, int) and alpha == 1 else b * alpha
        kind = result_type(a, b)
        kind = default_dtype() if result == "float" and kind.kind < FLOAT else kind
        gives = boolean if result == "bool" else kind
        if any(isinstance(value, Tensor) and value.is_meta for value in (a, b)):
            return meta_tensor(np.broadcast_shapes(*(getattr(value, "shape", ()) for value in (a, b))), gives)
        with quiet():
            made = tensor_of(compute(operand(a, kind), operand(b, kind)), gives)
        if back:
            needed = "".join(wants for value, wants in zip((a, b), keeps, strict=True) if is_on_tape(value))
            recorded(name, made, (a, b), back, a if "a" in needed else None, b if "b" in needed else None)
        return written(out, made)

    return op


def half_where_equal(is_better: Callable) -> Callable:
    """The gradient of a maximum or minimum goes to the one that was taken, and in halves where both are equal."""

    def back(g: Tensor, a: Any, b: Any) -> tuple:
        def share(mine: Any, other: Any) -> Tensor:
            return g * (is_better(mine, other).to(g.dtype) + (mine == other) * 0.5)

        return lambda: share(a, b), lambda: share(b, a)

    return back


add = binary("Add", np.add, lambda g, a, b: (g, g))
sub = binary("Sub", np.subtract, lambda g, a, b: (g, lambda: -g))
mul = binary("Mul", np.multiply, lambda g, a, b: (lambda: g * b, lambda: g * a), ("b", "a"))
true_div = binary("Div", np.divide, lambda g, a, b: (lambda: g / b, lambda: -g * (a / b) / b), ("b", "ab"), "float")
pow_ = binary("Pow", np.power, lambda g, a, b: (lambda: g * b * pow_(a, b - 1), lambda: g * log(a) * pow_(a, b)), ("ab", "ab"))
maximum = binary("Maximum", np.maximum, half_where_equal(lambda a, b: a > b), ("ab", "ab"))
minimum = binary("Minimum", np.minimum, half_where_equal(lambda a, b: a < b), ("ab", "ab"))
floor_divide = binary("FloorDivide", np.floor_divide)
remainder = binary("Remainder", np.remainder, lambda g, a, b: (g, None))
fmod = binary("Fmod", np.fmod, lambda g, a, b: (g, None))
atan2 = binary("Atan2", np.arctan2, None, result="float")
bitwise_and = binary("Bitwise_and", np.bitwise_and)
bitwise_or = binary("Bitwise_or", np.bitwise_or)
bitwise_xor = binary("Bitwise_xor", np.bitwise_xor)
bitwise_left_shift = binary("Bitwise_left_shift", np.left_shift)
bitwise_right_shift = binary("Bitwise_right_shift", np.right_shift)
logical_and = binary("Logical_and", np.logical_and, result="bool")
logical_or = binary("Logical_or", np.logical_or, result="bool")
logical_xor = binary("Logical_xor", np.logical_xor, result="bool")
lt = binary("Lt", np.less, result="bool")
le = binary("Le", np.less_equal, result="bool")
gt = binary("Gt", np.greater, result="bool")
ge = binary("Ge", np.greater_equal, result="bool")
eq = binary("Eq", np.equal, result="bool")
ne = binary("Ne", np.not_equal, result="bool")

OPERATORS = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "truediv": true_div,
    "floordiv": floor_divide,
    "mod": remainder,
    "pow": pow_,
    "and": bitwise_and,
    "or": bitwise_or,
    "xor": bitwise_xor,
    "lshift": bitwise_left_shift,
    "rshift": bitwise_right_shift,
}
COMPARISONS = {"lt": lt, "le": le, "gt": gt, "ge": ge, "eq": eq, "ne": ne}
NAMES_IN_PLACE = {"truediv": "div", "mod": "remainder"}


@method("div", "divide")
def div(a: Any, b: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Any:
    if rounding_mode == "floor":
        return floor_divide(a, b, out=out)
    return true_div(a, b, out=out) if rounding_mode is None else written(out, trunc(true_div(a, b)))


def in_place(function: Callable) -> Callable:
    """`a += b`: the result goes into a's memory, and a is on the tape where the result would be."""

    def op(a: Tensor, b: Any, **named: Any) -> Tensor:
        on_tape = settings.grad and (is_on_tape(a) or is_on_tape(b))
        a._before_change()
        before = a.detach().clone() if on_tape else a.detach()  # a derivative may ask for what was there
        before.requires_grad, before._node, before._output_number = a.requires_grad, a._node, a._output_number
        made = function(before, b, **named)
        a._array[...] = encoded(values_of(made), a.dtype)
        if made.requires_grad:
            a.requires_grad, a._node, a._output_number = True, made._node, 0
        return a

    return op


def add_operators() -> None:
    for name, function in OPERATORS.items():
        setattr(Tensor, f"__{name}__", function)
        setattr(Tensor, f"__r{name}__", lambda a, b, function=function: function(b, a))
        setattr(Tensor, f"__i{name}__", in_place(function))
        setattr(Tensor, f"{NAMES_IN_PLACE.get(name, name)}_", in_place(function))
    for name, function in COMPARISONS.items():
        setattr(Tensor, f"__{name}__", function)
        setattr(Tensor, name, function)
    named = {"add": add, "sub": sub, "subtract": sub, "mul": mul, "multiply": mul, "true_divide": true_div, "pow": pow_}
    named |= {"maximum": maximum, "minimum": minimum, "floor_divide": floor_divide, "remainder": remainder, "fmod": fmod}
    named |= {"logical_and": logical_and, "logical_or": logical_or, "logical_xor": logical_xor, "atan2": atan2}
    named |= {"bitwise_and": bitwise_and, "bitwise_or": bitwise_or, "bitwise_xor": bitwise_xor}
    for name, function in named.items():
        setattr(Tensor, name, function)


# Functions of one argument


def unary(name: str, compute: Callable, back: Callable | None = None, keeps: str = "", result: str = "") -> Callable:
    """A function of one argument. `keeps` says what its gradient needs: the argument a, or the output o."""

    @_dispatch.operation(name.lower())
    def op(a: Tensor, *, out: Tensor | None = None) -> Tensor:
        kind = default_dtype() if result == "float" and a.dtype.kind < FLOAT else a.dtype
        gives = boolean if result == "bool" else kind
        if a.is_meta:
            return meta_tensor(a.shape, gives)
        with quiet():
            made = tensor_of(compute(operand(a, kind)), gives)
        if back:
            recorded(name, made, (a,), lambda g, *kept: (back(g, *kept),), *({"a": [a], "o": [made]}.get(keeps, [])))
        return written(out, made)

    return op


def erf_of(x: np.ndarray) -> np.ndarray:
    return np.asarray(ERF(x.astype(np.float64)), np.float64).astype(x.dtype)


def in_dtype(compute: Callable) -> Callable:
    """Formulas with Python's numbers in them, in the dtype of the argument."""
    return lambda x: np.asarray(compute(x)).astype(x.dtype)


ERF = np.frompyfunc(math.erf, 1, 1)
neg = unary("Neg", lambda x: np.logical_not(x) if x.dtype == bool else np.negative(x), lambda g: -g)
abs_ = unary("Abs", np.abs, lambda g, a: g * sign(a), "a")
exp = unary("Exp", np.exp, lambda g, o: g * o, "o", "float")
exp2 = unary("Exp2", np.exp2, lambda g, o: g * o * math.log(2), "o", "float")
expm1 = unary("Expm1", np.expm1, lambda g, o: g * (o + 1), "o", "float")
log = unary("Log", np.log, lambda g, a: g / a, "a", "float")
log2 = unary("Log2", np.log2, lambda g, a: g / (a * math.log(2)), "a", "float")
log10 = unary("Log10", np.log10, lambda g, a: g / (a * math.log(10)), "a", "float")
log1p = unary("Log1p", np.log1p, lambda g, a: g / (a + 1), "a", "float")
sqrt = unary("Sqrt", np.sqrt, lambda g, o: g / (2 * o), "o", "float")
rsqrt = unary("Rsqrt", in_dtype(lambda x: 1 / np.sqrt(x)), lambda g, o: g * o * o * o * -0.5, "o", "float")
sin = unary("Sin", np.sin, lambda g, a: g * cos(a), "a", "float")
cos = unary("Cos", np.cos, lambda g, a: -g * sin(a), "a", "float")
tanh = unary("Tanh", np.tanh, lambda g, o: g * (1 - o * o), "o", "float")
sigmoid = unary("Sigmoid", in_dtype(lambda x: 1 / (1 + np.exp(-x))), lambda g, o: g * (o * (1 - o)), "o", "float")
erf = unary("Erf", erf_of, lambda g, a: g * (2 / math.sqrt(math.pi)) * exp(-a * a), "a", "float")
relu = unary("Relu", lambda x: np.maximum(x, 0), lambda g, o: g * (o > 0), "o")
square = unary("Pow", np.square, lambda g, a: g * (2 * a), "a")
reciprocal = unary("Reciprocal", lambda x: 1 / x, lambda g, o: -g * o * o, "o", "float")
floor = unary("Floor", np.floor, lambda g: g * 0)
ceil = unary("Ceil", np.ceil, lambda g: g * 0)
round_ = unary("Round", np.round, lambda g: g * 0)
trunc = unary("Trunc", np.trunc, lambda g: g * 0)
sign = unary("Sign", np.sign, lambda g: g * 0)
isnan = unary("Isnan", np.isnan, result="bool")
isinf = unary("Isinf", np.isinf, result="bool")
isfinite = unary("Isfinite", np.isfinite, result="bool")
signbit = unary("Signbit", np.signbit, result="bool")
logical_not = unary("Logical_not", np.logical_not, result="bool")
bitwise_not = unary("Bitwise_not", np.invert)

UNARY = {
    "neg": neg,
    "negative": neg,
    "abs": abs_,
    "absolute": abs_,
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log2": log2,
    "log10": log10,
    "log1p": log1p,
    "sqrt": sqrt,
    "rsqrt": rsqrt,
    "sin": sin,
    "cos": cos,
    "tanh": tanh,
    "sigmoid": sigmoid,
    "erf": erf,
    "relu": relu,
    "square": square,
    "reciprocal": reciprocal,
    "floor": floor,
    "ceil": ceil,
    "round": round_,
    "trunc": trunc,
    "sign": sign,
    "isnan": isnan,
    "isinf": isinf,
    "isfinite": isfinite,
    "signbit": signbit,
    "logical_not": logical_not,
    "bitwise_not": bitwise_not,
}
ALSO_IN_PLACE = (
    "neg",
    "abs",
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "tanh",
    "sigmoid",
    "relu",
    "square",
    "floor",
    "ceil",
    "round",
    "sin",
)


def add_unary() -> None:
    for name, function in UNARY.items():
        setattr(Tensor, name, function)
    for name in ALSO_IN_PLACE:
        changed = in_place(lambda a, _, function=UNARY[name]: function(a))
        setattr(Tensor, f"{name}_", lambda a, changed=changed: changed(a, None))
    Tensor.__neg__, Tensor.__abs__, Tensor.__invert__ = neg, abs_, bitwise_not  # type: ignore[attr-defined]
    Tensor.__pos__ = lambda a: a  # type: ignore[attr-defined]


add_operators()
add_unary()


# Choices


@_dispatch.operation("where")
def where(condition: Tensor, a: Any = None, b: Any = None) -> Any:
    if a is None:
        return condition.nonzero(as_tuple=True)
    kind = result_type(a, b)
    made = tensor_of(np.where(values_of(condition), operand(a, kind), operand(b, kind)), kind)
    return recorded("Where", made, (a, b), lambda g, c: (lambda: where(c, g, 0.0), lambda: where(c, 0.0, g)), condition)


@method("where")
def where_method(a: Tensor, condition: Tensor, b: Any) -> Tensor:
    return where(condition, a, b)


def in_dtype_of(value: Any, a: Tensor) -> Tensor:
    return value if isinstance(value, Tensor) else tensor_of(np.asarray(value, a.dtype.computed), a.dtype)


@method()
@_dispatch.operation("masked_fill")
def masked_fill(a: Tensor, mask: Tensor, value: Any) -> Tensor:
    return where(mask, in_dtype_of(value, a), a).to(a.dtype)


@method()
def masked_fill_(a: Tensor, mask: Tensor, value: Any) -> Tensor:
    a[mask.expand(a.shape)] = value
    return a


@method("clamp", "clip")
@_dispatch.operation("clamp")
def clamp(a: Tensor, min: Any = None, max: Any = None) -> Tensor:
    made = a if min is None else maximum(a, min)
    return made if max is None else minimum(made, max)


@method()
def clamp_(a: Tensor, min: Any = None, max: Any = None) -> Tensor:
    return a.copy_(clamp(a.detach(), min, max))


@method()
def clamp_min(a: Tensor, min: Any) -> Tensor:
    return maximum(a, min)


@method()
def nan_to_num(a: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    return tensor_of(np.nan_to_num(values_of(a), nan=nan, posinf=posinf, neginf=neginf), a.dtype)


@method()
def lerp(a: Tensor, b: Tensor, weight: Any) -> Tensor:
    return a + (b - a) * weight


@method()
def addcmul(a: Tensor, b: Tensor, c: Tensor, value: Any = 1) -> Tensor:
    return a + value * b * c


def kind_name(kind: dtype) -> str:
    """A dtype as PyTorch's messages write it."""
    return "Bool" if kind.kind == BOOL else {"int64": "Long", "int32": "Int"}.get(kind.name, kind.name.capitalize())
