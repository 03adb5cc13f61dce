"""From a record to the numbers that a chart draws."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scripts.drawing.style import SERIES, Series, Variant

Record = dict[str, Any]
Rates = tuple[float, float, float]
TIMES = ["time p20 (ms)", "time p50 (ms)", "time p80 (ms)"]
RATES = ["bandwidth at p80 (GB/s)", "bandwidth at p50 (GB/s)", "bandwidth at p20 (GB/s)"]
TIMINGS = {"call": "called from Python", "graph": "replayed from a CUDA graph"}


class Chart(NamedTuple):
    """What a page says about a chart, the table of all that it draws, and how to draw it at either width."""

    title: str
    alt: str
    columns: list[str]
    rows: list[list[Any]]
    paint: Callable[[Variant], Any]  # gives a Canvas, or a Sheet of pictures/


class Curve(NamedTuple):
    """One implementation's measurements along x."""

    name: str
    xs: list[int]
    measured: list[Record]

    @property
    def series(self) -> Series:
        return SERIES[self.name]

    @property
    def rates(self) -> list[Rates]:
        return [rates(row) for row in self.measured]

    def at(self, place: int) -> str:
        """The curve in words, at its first point (0) or its last (-1)."""
        return f"{self.series.label} {self.rates[place][1]:,.0f} GB/s at {self.xs[place]:,}"


def rates(measured: Record) -> Rates:
    """GB/s at the slow, the middle and the fast quantile."""
    slow, middle, fast = (measured["bytes"] / ms / 1e6 for ms in reversed(measured["ms"]))
    return slow, middle, fast


def numbers(measured: Record) -> list[float]:
    """Times and rates as a table shows them."""
    return [*measured["ms"], *(round(rate, 1) for rate in rates(measured))]


def choose(record: Record, **wanted: str) -> list[Record]:
    return [row for row in record["measurements"] if all(row[field] == value for field, value in wanted.items())]


def curves_of(rows: Sequence[Record], x_of: Callable[[Record], int]) -> list[Curve]:
    """One curve for each implementation, in the order of SERIES."""
    found = []
    for name in SERIES:
        points = sorted((row for row in rows if row["implementation"] == name), key=x_of)
        if points:
            found.append(Curve(name, [x_of(row) for row in points], points))
    return found


def sides(shape: str) -> list[int]:
    return [int(side) for side in shape.split("x")]


def row_length(row: Record) -> int:
    return sides(row["shape"])[-1]


def ticks(top: float, usual: int) -> list[int]:
    """Round numbers on an axis from zero to its top: `usual` apart, unless a much slower or faster card has one or too many."""
    rounded = (digit * 10**power for power in range(6) for digit in (1, 2, 5))
    step = usual if 2 * usual <= top <= 8 * usual else next(step for step in rounded if top <= 8 * step)
    return list(range(0, int(top) + 1, step))


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def capital(words: str) -> str:
    return words[0].upper() + words[1:]
