"""Charts of bandwidth against size, under the bandwidth of a plain copy."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes

from scripts.drawing.data import (
    RATES,
    TIMES,
    TIMINGS,
    Chart,
    Curve,
    Record,
    capital,
    choose,
    curves_of,
    listed,
    numbers,
    rates,
    row_length,
    sides,
    ticks,
)
from scripts.drawing.names import Names
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, Canvas, Variant, on_canvas

TICKS = ((10**5, "100k"), (10**6, "1M"), (10**7, "10M"), (10**8, "100M"))
LIMIT = "device copy (the limit drawn)"
Box = tuple[float, float, float, float]


def cells_of(curve: Curve, x: int, row: Record) -> tuple[Any, ...]:
    return curve.series.label, x, *numbers(row)


def bandwidth_axes(
    canvas: Canvas, box: Box, curves: Sequence[Curve], roof: float, top: float, cells: Callable[..., tuple[Any, ...]] = cells_of
) -> Axes:
    """Bandwidth from zero over a logarithmic x, with the roof and every curve, the last drawn first."""
    axes = canvas.axes(*box)
    xs = [x for curve in curves for x in curve.xs]
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xlim(min(xs) / 1.12, max(xs) * 1.12)
    axes.set_ylim(0, top)
    places = ticks(top, 1000)
    axes.set_yticks(places, [f"{place:,}" for place in places])
    axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
    axes.axhline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    axes.axhline(roof, color=COLORS["limit"], linewidth=1.2, clip_on=False)
    for curve in reversed(curves):
        ends = [value for slow, _, fast in curve.rates for value in (slow, fast, math.nan)]
        whisker: dict[str, Any] = {"color": COLORS[curve.series.color], "linewidth": 1, "solid_capstyle": "butt"}
        axes.plot([x for x in curve.xs for _ in range(3)], ends, clip_on=False, **whisker)
        axes.plot(curve.xs, [middle for _, middle, _ in curve.rates], clip_on=False, **curve.series.line())
        for x, row, (_, middle, _) in zip(curve.xs, curve.measured, curve.rates, strict=True):
            mark(canvas, axes, x, middle, cells(curve, x, row))
    return axes


def ceiling_of(curves: Sequence[Curve], roof: float, plot: float) -> float:
    """The top of the axis: above everything drawn, with space for the roof's label."""
    tallest = max([roof, *(fast for curve in curves for _, _, fast in curve.rates)])
    return tallest * plot / (plot - 23)


def name_roof(canvas: Canvas, axes: Axes, roof: float) -> None:
    x, y = on_canvas(canvas, axes, axes.get_xlim()[0], roof)
    canvas.text(x, y - 6, f"Device copy, {roof:,.0f} GB/s", color="limit")


def timed_cells(curve: Curve, x: int, row: Record) -> tuple[Any, ...]:
    return curve.series.label, TIMINGS[row["timing"]], x, *numbers(row)


def both_timings(variant: Variant, panels: dict[str, list[Curve]], roof: float, reach: tuple[int, int]) -> Canvas:
    """A panel for each way of timing: side by side where there is room, else one under the other. The last names the curves.

    Thin lines lie over the thick one, so that one is seen where all are as fast.
    """
    curves = panels["call"]
    names = Names(variant, [(curve.series, curve.series.label) for curve in curves])
    left, height, gap, down = (50, 300, 34, 0) if variant.wide else (46, 190, 0, 256)
    width = variant.width - left - names.margin
    width = (width - gap * (len(panels) - 1)) / len(panels) if variant.wide else width
    deep = height + down * (len(panels) - 1)
    canvas = Canvas(variant, 26 + deep + 52 + names.legend)
    ceiling = ceiling_of([curve for each in panels.values() for curve in each], roof, height)
    for place, (timing, drawn) in enumerate(panels.items()):
        x, y = (left + place * (width + gap), 26) if variant.wide else (left, 26 + place * down)
        axes = bandwidth_axes(canvas, (x, y, x + width, y + height), drawn[::-1], roof, ceiling, timed_cells)
        axes.set_xlim(reach[0] / 1.12, reach[1] * 1.12)
        axes.set_xticks([tick for tick, _ in TICKS], [words for _, words in TICKS])
        canvas.text(x, y - 12, capital(TIMINGS[timing]), fontweight="bold")
        if place and variant.wide:
            axes.set_yticklabels([])
        else:
            canvas.text(0, y - 12, "GB/s", color="muted")
            name_roof(canvas, axes, roof)
    canvas.text(left, 26 + deep + 39, "Number of elements", color="muted")
    ends = {curve.name: (curve.xs[-1], curve.rates[-1][1]) for curve in drawn}
    names.write(canvas, axes, [ends.get(curve.name, (reach[0], roof)) for curve in curves], 26 + deep + 63)
    return canvas


def add_bandwidth(record: Record) -> Chart:
    copy = record["ceilings"]["copy"]
    roof = rates(copy)[1]
    rows = choose(record, op="add", dtype="fp32")
    panels = {timing: curves_of([row for row in rows if row["timing"] == timing], row_length) for timing in TIMINGS}
    panels = {timing: curves for timing, curves in panels.items() if curves}
    called = panels["call"]
    everything = [curve for curves in panels.values() for curve in curves]
    first, last = called[0].xs[0], called[0].xs[-1]

    def paint(variant: Variant) -> Canvas:
        return both_timings(variant, panels, roof, (first, last))

    names = listed([curve.series.label for curve in called])
    title = f"Memory bandwidth of vector addition in float32 against the number of elements: {names}."
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


def softmax_rows(record: Record) -> Chart:
    copy = record["ceilings"]["copy"]
    roof = rates(copy)[1]
    rows = choose(record, op="softmax", direction="fwd", dtype="bf16", timing="call")
    curves = curves_of(rows, row_length)
    lengths = sorted({x for curve in curves for x in curve.xs})
    ends = [f", to {curve.xs[-1]:,}" if curve.xs[-1] < lengths[-1] else "" for curve in curves]
    labels = [curve.series.label + end for curve, end in zip(curves, ends, strict=True)]

    def paint(variant: Variant) -> Canvas:
        names = Names(variant, [(curve.series, label) for curve, label in zip(curves, labels, strict=True)], least=26)
        left, top, bottom = (50, 20, 360) if variant.wide else (46, 20, 280)
        canvas = Canvas(variant, bottom + 52 + names.legend)
        box = (left, top, variant.width - names.margin, bottom)
        axes = bandwidth_axes(canvas, box, curves, roof, ceiling_of(curves, roof, bottom - top))
        shown = lengths[:: 2 if variant.wide else 4]
        axes.set_xticks(shown, [f"{length:,}" for length in shown])
        name_roof(canvas, axes, roof)
        canvas.text(0, 14, "GB/s", color="muted")
        canvas.text(left, bottom + 39, "Row length, in elements", color="muted")
        names.write(canvas, axes, [(curve.xs[-1], curve.rates[-1][1]) for curve in curves], bottom + 63)
        return canvas

    names = listed([curve.series.label for curve in curves])
    title = f"Memory bandwidth of softmax in bfloat16 against the length of a row, the number of elements kept equal: {names}."
    alt = (
        f"Line chart. Across: row length, {lengths[0]:,} to {lengths[-1]:,} elements, on a logarithmic scale; "
        f"every matrix has {math.prod(sides(rows[0]['shape'])):,} bfloat16 elements. "
        "Up: memory bandwidth of the forward pass from zero, in GB/s. "
        f"At the shortest rows: {'; '.join(curve.at(0) for curve in curves)}. "
        f"At the longest: {'; '.join(curve.at(-1) for curve in curves)}. The copy of the same run: {roof:,.0f} GB/s."
    )
    table = [
        [curve.series.label, x, sides(row["shape"])[0], *numbers(row)]
        for curve in curves
        for x, row in zip(curve.xs, curve.measured, strict=True)
    ]
    columns = ["implementation", "row length", "rows", *TIMES, *RATES]
    return Chart(title, alt, columns, [*table, [LIMIT, None, None, *numbers(copy)]], paint)


CHARTS = {
    "add_bandwidth": (add_bandwidth, ("first_kernel/benchmark",)),
    "softmax_rows": (softmax_rows, ("fused_softmax/benchmark_rows",)),
}
