"""Benchmarks at shapes that nobody chose: drawn from a distribution by a seed, which is drawn when the benchmark runs.

Each length is drawn log-uniformly between two bounds and then rounded, in equal shares, to a multiple of 64, to a multiple of 8
that is none of 64, and to one that 8 does not divide. A tensor of rows is drawn by its number of elements and by the length of a
row, so that few long rows are as frequent as many short ones. A product is square, thin, deep or has three sides of their own.
"""

import os
import random
import secrets
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import torch

from kernels.tools.benchmark import DTYPES, TOLERANCE, Benchmark, alternate, capture, keep, quantiles

ROUNDINGS = ("64", "8", "none")
FORMS = ("square", "thin", "deep", "any")
ROWS_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
PRODUCT_DTYPES = (torch.float16, torch.bfloat16)
CASES = 48
SECONDS = 0.05  # of measuring, for the slowest implementation of a case
MEMORY_OF_A_WARMER = 10 * 2**30  # bytes


class Rows(NamedTuple):
    """A tensor of rows × columns."""

    rows: int
    columns: int
    dtype: torch.dtype

    @property
    def shape(self) -> str:
        return f"{self.rows}x{self.columns}"


class Product(NamedTuple):
    """A product of [m, k] and [k, n]."""

    m: int
    n: int
    k: int
    dtype: torch.dtype

    @property
    def shape(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"


class Heads(NamedTuple):
    """Queries of [batches, heads, tokens, width] beside keys and values of [batches, k_heads, tokens, width]."""

    batches: int
    heads: int
    k_heads: int
    tokens: int
    width: int
    is_causal: bool
    dtype: torch.dtype

    @property
    def shape(self) -> str:
        return f"{self.batches}x{self.heads}x{self.k_heads}x{self.tokens}x{self.width}{'c' if self.is_causal else ''}"


def draw_length(source: random.Random, low: float, high: float, rounding: str = "") -> int:
    """A length between two bounds, log-uniform but for its rounding, and at least 1; any whole number without one.

    A multiple of 64 is at least 64, and one of 8 at least 8. One that 8 does not divide may be off by up to 7.
    """
    length = low * (high / low) ** source.random()
    if rounding == "64":
        return 64 * max(1, round(length / 64))
    if rounding == "8":
        return 8 * max(1, 2 * round((length / 8 - 1) / 2) + 1)  # an odd number of eights
    whole = max(1, round(length))
    return whole + source.randint(1, 7) if rounding == "none" and whole % 8 == 0 else whole


def draw_rows(seed: int, count: int = CASES, longest: int = 2**18, most: int = 2**27) -> list[Rows]:
    """Tensors of 2¹⁸ to `most` elements, in rows of 32 to `longest`."""
    source = random.Random(seed)
    found: list[Rows] = []
    for _ in range(count):
        elements = draw_length(source, 2**18, most, "64")
        columns = draw_length(source, 32, min(longest, elements), source.choice(ROUNDINGS))
        found.append(Rows(max(1, elements // columns), columns, source.choice(ROWS_DTYPES)))
    return found


def draw_products(seed: int, count: int = CASES, fewest: int = 2**27, most: int = 2**40) -> list[Product]:
    """Products of `fewest` to `most` multiplications, with sides of 1 to 65,536: a quarter of each form."""
    source = random.Random(seed)
    found: list[Product] = []
    while len(found) < count:
        form = FORMS[len(found) % len(FORMS)]
        sides = [draw_length(source, 64, 16384, source.choice(ROUNDINGS)) for _ in range(3)]
        if form == "square":
            sides = [sides[0]] * 3
        elif form == "thin":
            sides[source.randrange(2)] = draw_length(source, 1, 128)
        elif form == "deep":
            sides = [draw_length(source, 32, 1024, source.choice(ROUNDINGS)) for _ in range(2)]
            sides.append(draw_length(source, 8 * max(sides), 65536, source.choice(ROUNDINGS)))
        if fewest <= sides[0] * sides[1] * sides[2] <= most:
            found.append(Product(sides[0], sides[1], sides[2], source.choice(PRODUCT_DTYPES)))
    return found


def draw_heads(seed: int, count: int = CASES, widths: tuple[int, ...] = (64, 128, 256), most: int = 2**26) -> list[Heads]:
    """Heads of queries and keys: 128 to 16,384 tokens, heads shared by 1, 2, 4 or 8, at most `most` numbers in the queries."""
    source = random.Random(seed)
    found: list[Heads] = []
    while len(found) < count:
        tokens, width = draw_length(source, 128, 16384, source.choice(ROUNDINGS)), source.choice(widths)
        k_heads, shared = draw_length(source, 1, 16), source.choice((1, 2, 4, 8))
        batches = draw_length(source, 1, 64)
        if 2**18 <= batches * k_heads * shared * tokens * width <= most:
            case = Heads(batches, k_heads * shared, k_heads, tokens, width, source.random() < 0.5, source.choice(PRODUCT_DTYPES))
            found.append(case)
    return found


class Drawn(Benchmark):
    """Times drawn cases, replayed from CUDA graphs, and keeps every one with the seed that they were drawn by.

    A first argument of the program is a seed to draw by again. A second one, `2/8`, makes this process a warmer: it only calls
    what every eighth case compiles, so that the measuring process finds it in the caches. There are as many warmers as half the
    cores, and as GPU memory allows.
    """

    def __init__(self, op: str):
        self.op = op
        self.seed = int(sys.argv[1]) if len(sys.argv) > 1 else secrets.randbits(32)
        self.part = tuple(int(number) for number in sys.argv[2].split("/")) if len(sys.argv) > 2 else None
        self.cases: list[dict] = []
        if self.part:
            torch.manual_seed(0)
            return
        self.warm()
        super().__init__()
        print(f"{op}: drawn by the seed {self.seed}")

    def warm(self) -> None:
        memory = torch.cuda.get_device_properties(0).total_memory // MEMORY_OF_A_WARMER
        count = min((os.cpu_count() or 2) // 2, memory)
        variables = {key: value for key, value in os.environ.items() if key != "BLOCKWISE_RECORD"}
        started = [
            subprocess.Popen(
                [sys.executable, sys.argv[0], str(self.seed), f"{part}/{count}"],
                env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            for part in range(count)
        ]  # fmt: skip
        for process in started:
            process.wait()  # what a warmer could not do, the measuring process meets itself, and says

    def each(self, cases: list) -> list:
        """The cases that this process takes."""
        return cases[self.part[0] :: self.part[1]] if self.part else cases

    def both(
        self,
        case: Rows | Product | Heads,
        implementations: dict[str, Callable],
        inputs: tuple[torch.Tensor, ...],
        bytes_moved: tuple[int, int],
        differentiable: int | None = None,
        flops: tuple[int, int] | None = None,
    ) -> None:
        """Time one case forward, and backward to the inputs.

        Args:
            case: What was drawn.
            implementations: Functions of the inputs by name. `exact`, or else `eager`, is called in float64 for what is right;
                the first is not timed.
            inputs: Tensors.
            bytes_moved: The fewest bytes that each direction can move.
            differentiable: How many of the inputs, the first ones, have gradients. None: all; 0: there is no way back.
            flops: Floating-point operations of each direction, where they set the limit.
        """
        torch.compiler.reset()
        count = len(inputs) if differentiable is None else differentiable
        exact = [x.double().requires_grad_(i < count) for i, x in enumerate(inputs)]
        expected = results((implementations.get("exact") or implementations["eager"])(*exact))
        implementations = {name: function for name, function in implementations.items() if name != "exact"}
        forward = {name: lambda f=f: f(*inputs) for name, f in implementations.items()}
        with torch.no_grad():
            self.timed(case, "fwd", forward, expected, bytes_moved[0], flops and flops[0])
        if not count:
            return
        came = [torch.randn_like(y).to(case.dtype) for y in expected]
        gradients = torch.autograd.grad(expected, exact[:count], [dy.double() for dy in came])
        del expected
        leaves = [x.detach().requires_grad_() for x in inputs[:count]]
        backward = {}
        for name, function in implementations.items():
            try:
                ys = results(function(*leaves, *inputs[count:]))
            except Exception as error:  # a peer that takes no such shape
                if name == "blockwise":
                    raise
                print(f"    {name} has no way back for {case.shape}: {type(error).__name__}")
                continue
            backward[name] = lambda ys=ys: torch.autograd.grad(ys, leaves, came, retain_graph=True)
        self.timed(case, "bwd", backward, gradients, bytes_moved[1], flops and flops[1])

    def timed(self, case, direction: str, implementations: dict, expected: tuple, moved: int, flops: int | None) -> None:
        """Check the implementations, and time those that are right by their replays; ours has to be right."""
        right: dict[str, Callable] = {}
        for name, function in implementations.items():
            try:
                step = 2.0**-24 if case.dtype == torch.float16 else 0.0
                pairs = zip(results(function()), expected, strict=True)
                wrong = max(relative_error(ours, exact, step) for ours, exact in pairs)
            except Exception as error:
                if name == "blockwise":
                    raise
                print(f"    {name} does not take {case.shape}: {type(error).__name__}")
                continue
            if wrong < TOLERANCE[case.dtype]:
                right[name] = function
            elif name == "blockwise":
                raise AssertionError(f"{self.op} {direction} {case.shape} {DTYPES[case.dtype]}: relative error {wrong:.2e}")
            else:
                print(f"    {name} is wrong for {case.shape} in {DTYPES[case.dtype]}: relative error {wrong:.1e}")
        if self.part:
            return
        replays = {name: replay for name, function in right.items() if (replay := capture(function))}
        for name in right.keys() - replays.keys():
            print(f"    {name} cannot be captured for {case.shape}")
        times = {name: quantiles(taken) for name, taken in zip(replays, alternate(list(replays.values()), SECONDS), strict=True)}
        row = {"op": self.op, "direction": direction, "shape": case.shape, "dtype": DTYPES[case.dtype], "bytes": moved}
        self.cases.append(row | {"flops": flops, "ms": times})
        ours = times["blockwise"][1]
        peers = {name: ms[1] / ours for name, ms in times.items() if name != "blockwise"}
        told = ", ".join(f"{name} {ratio:.2f}" for name, ratio in peers.items())
        print(f"{self.op} {direction} {case.shape:>16} {DTYPES[case.dtype]} {ours * 1e3:9.1f} us; of it: {told}", flush=True)

    def finish(self) -> None:
        """Keep what was drawn and measured."""
        if not self.part:
            keep(ceilings=self.ceilings, drawn={"op": self.op, "seed": self.seed, "cases": self.cases})


def results(found: torch.Tensor | tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """What a function returned, as a tuple."""
    return (found,) if isinstance(found, torch.Tensor) else tuple(found)


def relative_error(found: torch.Tensor, exact: torch.Tensor, step: float = 0.0) -> float:
    """The norm of the difference over that of what is right; of what is zero, the norm itself.

    Near zero numbers stand `step` apart, and each may be off by as much for no fault of a kernel's.
    """
    off = (found.double() - exact).norm().item() - step * exact.numel() ** 0.5
    return (off if off > 0 else 0.0) / (exact.norm().item() or 1.0)
