"""What the checker feeds to a function: hidden inputs, and what should come out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch

from kernels.labs.watch.regions import far, placed

Inputs = dict[str, torch.Tensor]


@dataclass
class Case:
    """One call: its inputs by name, where the result goes, and what a failure here usually means."""

    label: str
    inputs: Inputs
    out: torch.Tensor
    why_nan: str = ""
    why_wrong: str = ""


@dataclass
class Task:
    """Something to write: how it is called, what it computes in PyTorch, the hidden cases, and the mistakes it invites."""

    call: str
    expected: Callable[..., torch.Tensor]
    cases: Callable[[str], Iterator[Case]]
    # Words for a cause, and what a kernel with that mistake would give.
    mistakes: dict[str, Callable[..., torch.Tensor]] = field(default_factory=dict)
    tolerance: float = 1e-5
    most_lanes: int = 0
    peer: Callable[..., torch.Tensor] | None = None
    large: Callable[[], Inputs] | None = None


def numbers(
    *shape: int, seed: int = 0, dtype: torch.dtype = torch.float32, scale: float = 1.0, shift: float = 0.0
) -> torch.Tensor:
    """The same random numbers on every machine."""
    generator = torch.Generator().manual_seed(1000 * seed + sum(shape))
    return (torch.randn(*shape, generator=generator) * scale + shift).to(dtype)


def case(label: str, device: str, inputs: Inputs, shape: tuple[int, ...], dtype: torch.dtype = torch.float32, **more) -> Case:
    """A case whose inputs are copied to places of their own, except those that are there already."""
    strides = more.pop("strides", {})
    put = {name: placed(value.to(device), strides.get(name)) for name, value in inputs.items()}
    if more.pop("far_rows", False):
        put = {name: far(value) for name, value in put.items()}
    out = placed(torch.empty(shape, dtype=dtype, device=device), strides.get("out"), empty=True)
    return Case(label, put, out, **more)


LENGTHS = (1000, 1024, 1, 3, 127, 129, 1023, 1025, 2500, 0)


def vectors(*names: str, dtype: torch.dtype = torch.float32) -> Callable[[str], Iterator[Case]]:
    """Vectors of lengths around powers of two, one element, and none."""

    def cases(device: str) -> Iterator[Case]:
        for n in LENGTHS:
            inputs = {name: numbers(n, seed=seed, dtype=dtype) for seed, name in enumerate(names)}
            yield case(f"{n} element{'' if n == 1 else 's'}", device, inputs, (n,), dtype)

    return cases


FAR_BELOW = (
    "every element of these rows is near -200. A masked lane that holds 0 wins the maximum, every exponential becomes 0, and "
    "0 / 0 is NaN. Load with `other=-float('inf')`: it never wins a maximum, and its exponential is 0."
)
FAR_ABOVE = (
    "the elements here are near 200, and exp(200) is more than float32 can hold. Subtract the row's maximum before "
    "the exponential: the result is the same, and the largest exponent is 0."
)


def rows(lengths: tuple[int, ...], why_short: str = "") -> Callable[[str], Iterator[Case]]:
    """Matrices whose rows have these lengths, then extreme values, then rows that lie apart in memory."""

    def cases(device: str) -> Iterator[Case]:
        for n in lengths:
            x = numbers(3, n)
            yield case(f"3 rows of {n}", device, {"x": x}, (3, n), why_wrong=why_short)
        n = lengths[1] - 5
        yield case(f"4 rows of {n} near 200", device, {"x": numbers(4, n, shift=200)}, (4, n), why_nan=FAR_ABOVE)
        yield case(f"4 rows of {n} near -200", device, {"x": numbers(4, n, shift=-200)}, (4, n), why_nan=FAR_BELOW)
        yield case(f"a single row of {n}", device, {"x": numbers(1, n)}, (1, n))
        yield case("no rows", device, {"x": numbers(0, n)}, (0, n))
        rising = torch.arange(2.0 * n).reshape(2, n) * (20 / n)
        yield case(f"2 rising rows of {n}", device, {"x": rising}, (2, n))
        strides = {"x": (n + 60, 1)}
        label = f"5 rows of {n}, {n + 60} elements apart in x"
        yield case(label, device, {"x": numbers(5, n)}, (5, n), strides=strides)
        label = f"5 rows of {n}, {n + 12} elements apart in the output"
        yield case(label, device, {"x": numbers(5, n)}, (5, n), strides={"out": (n + 12, 1)})

    return cases


def far_rows(device: str) -> Iterator[Case]:
    """Rows that lie 2^30 elements apart; on a GPU, where the memory would have to be there, rows that lie near."""
    yield case("3 rows of 100", device, {"x": numbers(3, 100)}, (3, 100))
    if device == "cpu":
        label = "5 rows of 100, 2^30 elements apart in x"
        yield case(label, device, {"x": numbers(5, 100)}, (5, 100), strides={"x": (160, 1)}, far_rows=True)


def matrices(device: str) -> Iterator[Case]:
    """Products whose sides are multiples of a tile, then not, then views, then long sums."""
    half = torch.float16
    shapes = [(64, 64, 64), (128, 64, 96), (64, 128, 40), (70, 64, 64), (64, 50, 64), (33, 65, 70), (1, 1, 1), (5, 3, 200)]
    for m, n, k in shapes:
        a, b = numbers(m, k, seed=1, dtype=half), numbers(k, n, seed=2, dtype=half)
        yield case(f"({m}, {k}) @ ({k}, {n})", device, {"a": a, "b": b}, (m, n))
    a, b = numbers(48, 80, seed=1, dtype=half), numbers(80, 40, seed=2, dtype=half)
    yield case("a whose rows lie apart", device, {"a": a, "b": b}, (48, 40), strides={"a": (112, 1)})
    yield case("a stored by columns, as a.T of another matrix", device, {"a": a, "b": b}, (48, 40), strides={"a": (1, 48)})
    yield case("b stored by columns, as b.T of another matrix", device, {"a": a, "b": b}, (48, 40), strides={"b": (1, 80)})
    yield case("an output whose rows lie apart", device, {"a": a, "b": b}, (48, 40), strides={"out": (64, 1)})
    a, b = (numbers(*shape, seed=3, dtype=half).abs() * 8 for shape in ((16, 1600), (1600, 16)))
    long = "sums of 1600 products of some size. Keep the accumulator in float32, and convert only the result."
    yield case("(16, 1600) @ (1600, 16), all positive", device, {"a": a, "b": b}, (16, 16), why_wrong=long, why_nan=long)
