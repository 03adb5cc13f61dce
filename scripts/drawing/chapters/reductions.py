"""The charts of *Reductions*: ways to add up an array, what contention costs an atomic, and the library beside its peers."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from scripts.drawing.curves import LIMIT, both_timings
from scripts.drawing.data import (
    RATES,
    TIMES,
    TIMINGS,
    Chart,
    Record,
    capital,
    choose,
    curves_of,
    listed,
    numbers,
    rates,
    row_length,
)
from scripts.drawing.names import Names
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Variant, legend_rows, on_canvas

WAYS = ("blockwise", "last", "two_launches", "atomic", "lock", "eager")
ADDITIONS = {"contend": ("relaxed", "ordered", "floats"), "contend_scattered": ("scattered",)}
PEERS = ("eager", "compile", "compile_max")
KINDS = {"sum": "Sum", "max": "Maximum"}
WHERE = {"": "of all", "-1": "of each row", "0": "of each column"}
STEP, HEAD = 27, 26
Box = tuple[float, float, float, float]


def reductions_ways(record: Record) -> Chart:
    copy = record["ceilings"]["copy"]
    roof = rates(copy)[1]
    rows = [row for row in choose(record, op="total") if row["implementation"] in WAYS]
    panels = {timing: curves_of([row for row in rows if row["timing"] == timing], row_length) for timing in TIMINGS}
    panels = {timing: curves for timing, curves in panels.items() if curves}
    called = panels["call"]
    everything = [curve for curves in panels.values() for curve in curves]
    first, last = min(curve.xs[0] for curve in called), max(curve.xs[-1] for curve in called)

    def paint(variant: Variant) -> Canvas:
        return both_timings(variant, panels, roof, (first, last))

    names = listed([curve.series.label for curve in called])
    title = f"Memory bandwidth of the sum of an array in float32 against the number of its elements: {names}."
    alt = (
        f"Line chart, one panel for each way of timing: {listed([TIMINGS[timing] for timing in panels])}. "
        f"Across: number of float32 elements, {first:,} to {last:,}, on a logarithmic scale. "
        "Up: memory bandwidth from zero, in GB/s. "
        f"Called from Python: {'; '.join(curve.at(-1) for curve in called)}. The copy of the same run: {roof:,.0f} GB/s."
    )
    table = [
        [curve.series.label, TIMINGS[row["timing"]], x, *numbers(row)]
        for curve in everything
        for x, row in zip(curve.xs, curve.measured, strict=True)
    ]
    columns = ["implementation", "timing", "number of elements", *TIMES, *RATES]
    return Chart(title, alt, columns, [*table, [LIMIT, None, None, *numbers(copy)]], paint)


def speed(row: Record) -> list[float]:
    """Additions a nanosecond at the slow, the middle and the fast quantile."""
    return [row["flops"] / ms / 1e6 for ms in reversed(row["ms"])]


def reductions_contention(record: Record) -> Chart:
    rows = [row for op in ADDITIONS for row in choose(record, op=op, timing="call")]
    names = [name for op in ADDITIONS for name in ADDITIONS[op] if any(row["implementation"] == name for row in rows)]
    lines = {name: sorted((r for r in rows if r["implementation"] == name), key=row_length) for name in names}
    places = sorted({row_length(row) for row in rows})
    count = rows[0]["flops"]
    reach = [value for row in rows for value in speed(row)]

    def paint(variant: Variant) -> Canvas:
        line_names = Names(variant, [(SERIES[name], SERIES[name].label) for name in names])
        left, top, bottom = (50, 26, 326) if variant.wide else (46, 26, 276)
        canvas = Canvas(variant, bottom + 52 + line_names.legend)
        axes = canvas.axes(left, top, variant.width - line_names.margin, bottom)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.set_xlim(places[0] / 1.3, places[-1] * 1.3)
        low, high = math.floor(math.log10(min(reach))), math.ceil(math.log10(max(reach)))
        axes.set_ylim(10**low, 10**high)
        powers = [10.0**power for power in range(low, high + 1)]
        axes.set_yticks(powers, [f"{power:g}" for power in powers])
        ticks = places[:: 2 if variant.wide else 4]
        axes.set_xticks(ticks, [short(tick) for tick in ticks])
        axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
        for name in reversed(names):
            xs = [row_length(row) for row in lines[name]]
            ends = [value for row in lines[name] for value in (speed(row)[0], speed(row)[2], math.nan)]
            whisker: dict[str, Any] = {"color": COLORS[SERIES[name].color], "linewidth": 1, "solid_capstyle": "butt"}
            axes.plot([x for x in xs for _ in range(3)], ends, clip_on=False, **whisker)
            axes.plot(xs, [speed(row)[1] for row in lines[name]], clip_on=False, **SERIES[name].line())
            for x, row in zip(xs, lines[name], strict=True):
                mark(canvas, axes, x, speed(row)[1], (SERIES[name].label, x, *row["ms"]))
        canvas.text(0, 14, "Additions a nanosecond", color="muted")
        canvas.text(left, bottom + 39, "Different numbers that are added to", color="muted")
        last = [(float(row_length(lines[name][-1])), speed(lines[name][-1])[1]) for name in names]
        line_names.write(canvas, axes, last, bottom + 63)
        return canvas

    words = "; ".join(
        f"{SERIES[name].label}: {speed(lines[name][0])[1]:.3g} at {row_length(lines[name][0]):,}, "
        f"{speed(lines[name][-1])[1]:.3g} at {row_length(lines[name][-1]):,}"
        for name in names
    )
    title = f"Atomic additions a nanosecond, {count:,} of them, against how many different numbers they go to."
    alt = (
        "Line chart, both scales logarithmic. Across: how many different numbers in memory the additions go to, "
        f"{places[0]:,} to {places[-1]:,}. Up: additions a nanosecond. {words}."
    )
    table = [
        [SERIES[name].label, row_length(row), *row["ms"], *(round(value, 4) for value in speed(row))]
        for name in names
        for row in lines[name]
    ]
    quantiles = [f"additions a nanosecond at {quantile}" for quantile in ("p80", "p50", "p20")]
    return Chart(title, alt, ["kind", "different numbers", *TIMES, *quantiles], table, paint)


def short(number: int) -> str:
    for size, letter in ((2**20, "M"), (2**10, "k")):
        if number >= size:
            return f"{number // size}{letter}"
    return str(number)


class Case:
    """One operation at one shape, and every peer's time over Blockwise's median."""

    def __init__(self, rows: list[Record]):
        by_name = {row["implementation"]: row for row in rows}
        self.row, self.times = by_name["blockwise"], {name: row["ms"] for name, row in by_name.items()}

    @property
    def kind(self) -> str:
        name, _, dim = self.row["op"].partition("_dim")
        return f"{KINDS[name]} {WHERE[dim]}"

    @property
    def size(self) -> str:
        return f"{' × '.join(f'{int(side):,}' for side in self.row['shape'].split('x'))}, {self.row['dtype']}"

    @property
    def label(self) -> str:
        return f"{self.kind}, {self.size}"

    def ratio(self, name: str) -> list[float]:
        return [ms / self.times["blockwise"][1] for ms in self.times.get(name, [])]

    @property
    def best(self) -> float:
        return min(self.ratio(name)[1] for name in PEERS if self.ratio(name))


def reductions_shapes(sums: Record, maxima: Record) -> Chart:
    record = {"measurements": sums["measurements"] + maxima["measurements"]}
    keys = dict.fromkeys((row["timing"], row["op"], row["shape"], row["dtype"]) for row in record["measurements"])
    kinds = [name + (f"_dim{dim}" if dim else "") for name, dim in product(KINDS, WHERE)]
    panels: dict[str, list[Case]] = {timing: [] for timing in TIMINGS}
    for timing, op, shape, dtype in sorted(keys, key=lambda key: kinds.index(key[1])):
        panels[timing].append(Case(choose(record, timing=timing, op=op, shape=shape, dtype=dtype)))
    panels = {timing: cases for timing, cases in panels.items() if cases}
    cases = [case for group in panels.values() for case in group]
    peers = [name for name in PEERS if any(name in case.times for case in cases)]
    reach = [value for case in cases for name in ("blockwise", *peers) for value in case.ratio(name)]
    limits = min(0.7, *reach) / 1.08, max(2, *reach) * 1.12

    def paint(variant: Variant) -> Canvas:
        items = [(SERIES[name]._replace(width=0), SERIES[name].label) for name in peers]
        top = LEGEND_ROW * len(legend_rows(items, variant, 0)) + 48.0
        left, gap, across = (176, 24, len(panels)) if variant.wide else (134, 0, 1)
        width = (variant.width - left - 8 - gap * (across - 1)) / across
        shared = lines_of(cases)
        drawn = [(timing, group, shared if variant.wide else lines_of(group)) for timing, group in panels.items()]
        deep = shared.height if variant.wide else sum(lines.height for *_, lines in drawn) + 94 * (len(drawn) - 1)
        canvas = Canvas(variant, top + deep + 46)
        canvas.legend(0, 14, items)
        for place, (timing, group, lines) in enumerate(drawn):
            x, bottom = left + place % across * (width + gap), top + lines.height
            axes = draw_cases(canvas, (x, top, x + width, bottom), group, peers, limits, lines)
            canvas.text(x if variant.wide else 0, top - 28, capital(TIMINGS[timing]), fontweight="bold")
            one = on_canvas(canvas, axes, 1, 0)[0]
            canvas.text(one - 5, top - 7, "← slower", color="muted", ha="right")
            canvas.text(one + 5, top - 7, "Blockwise faster →", color="muted")
            canvas.text(x, bottom + 37, "Time ÷ Blockwise's time", color="muted")
            if place % across == 0:
                name_cases(canvas, top, lines)
            top = top if variant.wide else bottom + 94
        return canvas

    names = listed([SERIES[name].label for name in peers])
    losses = [
        f"{capital(TIMINGS[timing])}, some peer is faster in {sum(case.best < 1 for case in group)} of {len(group)} cases."
        for timing, group in panels.items()
    ]
    title = f"Time of sums and maxima in {names}, divided by the time of Blockwise in the same shape and type."
    alt = (
        "Dot plot, a line for each operation, shape and type; a part for each way of timing. "
        f"Across, on a logarithmic scale: the time of each peer ({names}) divided by Blockwise's. "
        f"Right of the line at one Blockwise is faster; left of it, on a shaded ground, slower. {' '.join(losses)}"
    )
    columns = ["timing", "operation, shape and type", "implementation", *TIMES]
    columns += [f"{quantile} / Blockwise's p50" for quantile in ("p20", "p50", "p80")]
    table = [
        [TIMINGS[timing], case.label, SERIES[name].label, *case.times[name], *(round(value, 4) for value in case.ratio(name))]
        for timing, group in panels.items()
        for case in group
        for name in ("blockwise", *peers)
        if name in case.times
    ]
    return Chart(title, alt, columns, table, paint)


class Lines(NamedTuple):
    """Where each case and each kind's heading stands, in pixels from the top of a panel."""

    headings: list[tuple[float, str]]
    places: dict[tuple[str, str], float]
    height: float


def lines_of(cases: list[Case]) -> Lines:
    lines = Lines([], {}, 0.0)
    for kind in dict.fromkeys(case.kind for case in cases):
        lines.headings.append((lines.height, kind))
        lines = lines._replace(height=lines.height + HEAD)
        for key in dict.fromkeys((case.kind, case.size) for case in cases if case.kind == kind):
            lines.places[key] = lines.height
            lines = lines._replace(height=lines.height + STEP)
    return lines


def name_cases(canvas: Canvas, top: float, lines: Lines) -> None:
    for y, kind in lines.headings:
        canvas.text(0, top + y + 17, kind)
    for (_, size), y in lines.places.items():
        canvas.text(8, top + y + 18, size, color="muted")


def draw_cases(
    canvas: Canvas, box: Box, cases: list[Case], peers: list[str], limits: tuple[float, float], lines: Lines
) -> Axes:
    """A line of dots for each case, each implementation in a lane of its own."""
    axes = canvas.ratio_axes(box, *limits)
    axes.set_ylim(lines.height, 0)
    axes.set_yticks([])
    axes.axvspan(limits[0], 1, color=COLORS["panel"], linewidth=0, clip_on=False)
    for y in (*lines.places.values(), lines.height):
        axes.axhline(y, color=COLORS["rule"], linewidth=0.7, clip_on=False)
    axes.axvline(1, color=COLORS["ours"], linewidth=1.6, clip_on=False)
    for turn, name in enumerate(("blockwise", *peers)):
        found = [(lines.places[case.kind, case.size] + 5 + 5.5 * turn, case) for case in cases if name in case.times]
        whiskers = [value for _, case in found for value in (case.ratio(name)[0], case.ratio(name)[2], math.nan)]
        style: dict[str, Any] = {"color": COLORS[SERIES[name].color], "linewidth": 3 if name == "blockwise" else 1}
        axes.plot(whiskers, [y for y, _ in found for _ in range(3)], solid_capstyle="butt", clip_on=False, **style)
        if name != "blockwise":
            look = {**SERIES[name].line(), "linestyle": "", "markeredgecolor": COLORS["paper"], "markeredgewidth": 0.7}
            axes.plot([case.ratio(name)[1] for _, case in found], [y for y, _ in found], clip_on=False, **look)
        for y, case in found:
            mark(canvas, axes, case.ratio(name)[1], y, (TIMINGS[case.row["timing"]], case.label, SERIES[name].label))
    return axes


CHARTS: dict[str, tuple[Callable[..., Chart], tuple[str, ...]]] = {
    "reductions_ways": (reductions_ways, ("reductions/benchmark_total",)),
    "reductions_contention": (reductions_contention, ("reductions/benchmark_atomics",)),
    "reductions_shapes": (reductions_shapes, ("reductions/benchmark", "reductions/benchmark_max")),
}
