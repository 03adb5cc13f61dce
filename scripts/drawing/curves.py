"""Charts of bandwidth against size, under the bandwidth of a plain copy."""

import math
from collections.abc import Sequence
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
)
from scripts.drawing.style import COLORS, LEGEND_ROW, Canvas, Variant, legend_rows, on_canvas, spread, text_width

TICKS = ((10**5, "100k"), (10**6, "1M"), (10**7, "10M"), (10**8, "100M"))
LIMIT = "device copy (the limit drawn)"
Box = tuple[float, float, float, float]


def bandwidth_axes(canvas: Canvas, box: Box, curves: Sequence[Curve], roof: float, top: float) -> Axes:
    """Bandwidth from zero over a logarithmic x, with the roof and every curve; Blockwise is drawn last."""
    axes = canvas.axes(*box)
    xs = [x for curve in curves for x in curve.xs]
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xlim(min(xs) / 1.12, max(xs) * 1.12)
    axes.set_ylim(0, top)
    ticks = range(0, int(top) + 1, 1000 if top < 10_000 else 2000)
    axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
    axes.axhline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    axes.axhline(roof, color=COLORS["limit"], linewidth=1.2, clip_on=False)
    for curve in reversed(curves):
        ends = [value for slow, _, fast in curve.rates for value in (slow, fast, math.nan)]
        whisker: dict[str, Any] = {"color": COLORS[curve.series.color], "linewidth": 1, "solid_capstyle": "butt"}
        axes.plot([x for x in curve.xs for _ in range(3)], ends, clip_on=False, **whisker)
        axes.plot(curve.xs, [middle for _, middle, _ in curve.rates], clip_on=False, **curve.series.line())
    return axes


def ceiling_of(curves: Sequence[Curve], roof: float, plot: float, lines: int = 1) -> float:
    """The top of the axis: above everything drawn, with space for the roof's label."""
    tallest = max([roof, *(fast for curve in curves for _, _, fast in curve.rates)])
    return tallest * plot / (plot - 8 - 15 * lines)


def name_roof(canvas: Canvas, axes: Axes, roof: float, lines: int = 1) -> None:
    x, y = on_canvas(canvas, axes, axes.get_xlim()[0], roof)
    words = [f"Device copy, {roof:,.0f} GB/s"] if lines == 1 else ["Device copy,", f"{roof:,.0f} GB/s"]
    for line, part in enumerate(reversed(words)):
        canvas.text(x, y - 6 - 15 * line, part, color="limit")


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
        items = [(curve.series, curve.series.label) for curve in called]
        left, bottom, gap, lines = (50, 326, 34, 1) if variant.wide else (46, 266, 20, 2)
        top, edge = 26, left if variant.wide else 0
        canvas = Canvas(variant, bottom + 52 + LEGEND_ROW * len(legend_rows(items, variant, edge)))
        width = (variant.width - left - 8 - gap * (len(panels) - 1)) / len(panels)
        ceiling = ceiling_of(everything, roof, bottom - top, lines)
        ticks = TICKS if variant.wide else TICKS[::3]
        for place, (timing, curves) in enumerate(panels.items()):
            x = left + place * (width + gap)
            axes = bandwidth_axes(canvas, (x, top, x + width, bottom), curves, roof, ceiling)
            axes.set_xlim(first / 1.12, last * 1.12)
            axes.set_xticks([tick for tick, _ in ticks], [words for _, words in ticks])
            heading = TIMINGS[timing] if variant.wide else {"call": "called", "graph": "from a graph"}[timing]
            canvas.text(x, 14, capital(heading), fontweight="bold")
            if place:
                axes.set_yticklabels([])
            else:
                name_roof(canvas, axes, roof, lines)
        canvas.text(0, 14, "GB/s", color="muted")
        canvas.text(left, bottom + 39, "Number of elements", color="muted")
        canvas.legend(edge, bottom + 63, items)
        return canvas

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
        items = [(curve.series, label) for curve, label in zip(curves, labels, strict=True)]
        margin = 34 + max(text_width(label, variant.text) for label in labels) if variant.wide else 26
        left, top, bottom = (50, 20, 360) if variant.wide else (46, 20, 280)
        legend = 0 if variant.wide else 4 + LEGEND_ROW * len(legend_rows(items, variant, 0))
        canvas = Canvas(variant, bottom + 48 + legend)
        box = (left, top, variant.width - margin, bottom)
        axes = bandwidth_axes(canvas, box, curves, roof, ceiling_of(curves, roof, bottom - top))
        ticks = lengths[:: 2 if variant.wide else 4]
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        name_roof(canvas, axes, roof)
        canvas.text(0, 14, "GB/s", color="muted")
        canvas.text(left, bottom + 39, "Row length, in elements", color="muted")
        if variant.wide:
            label_ends(canvas, axes, curves, labels, bottom)
        else:
            canvas.legend(0, bottom + 63, items)
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


def label_ends(canvas: Canvas, axes: Axes, curves: Sequence[Curve], labels: Sequence[str], bottom: float) -> None:
    """Each curve's name right of the plot, as near its last point as fits; a thin line joins those that reach the edge."""
    edge = on_canvas(canvas, axes, axes.get_xlim()[1], 0)[0]
    last = max(curve.xs[-1] for curve in curves)
    ends = [on_canvas(canvas, axes, curve.xs[-1], curve.rates[-1][1]) for curve in curves]
    for curve, label, end, y in zip(curves, labels, ends, spread([y for _, y in ends], 19, 20, bottom), strict=True):
        if curve.xs[-1] == last:
            canvas.line([end[0] + 5, edge + 18], [end[1], y], color=COLORS[curve.series.color], linewidth=0.8)
        canvas.line([edge + 22], [y], **{**curve.series.line(), "linestyle": ""})
        canvas.text(edge + 30, y + 4.5, label, fontweight="bold" if curve.name == "blockwise" else "normal")


CHARTS = {
    "add_bandwidth": (add_bandwidth, ("first_kernel/benchmark",)),
    "softmax_rows": (softmax_rows, ("fused_softmax/benchmark_rows",)),
}
