"""The chart of *Masking*: what a mask costs, for sizes that 16 divides and others."""

import math
from itertools import pairwise
from typing import Any

from scripts.drawing.data import RATES, TIMES, Chart, Record, choose, listed, numbers, rates, ticks
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Variant, legend_rows, on_canvas

WAYS = ("masked", "split", "maskless", "eager")
LIMIT = "device copy (the limit drawn)"
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
Spot = tuple[str, int]


def spot_of(row: Record) -> Spot:
    return row["dtype"], int(row["shape"])


def pair_of(spot: Spot) -> str:
    """The type and the power of two that a size is or lies next to."""
    return f"{spot[0]}, 2{str(round(math.log2(spot[1]))).translate(RAISED)}"


def mask_cost(record: Record) -> Chart:
    copy = record["ceilings"]["copy"]
    roof = rates(copy)[1]
    rows = choose(record, op="negate", timing="call")
    spots = sorted({spot_of(row) for row in rows}, key=lambda spot: (spot[0] != "fp32", spot))
    ways = [way for way in WAYS if any(row["implementation"] == way for row in rows)]
    found = {(spot_of(row), row["implementation"]): row for row in rows}
    highest = max([roof, *(rates(row)[2] for row in rows)])

    def paint(variant: Variant) -> Canvas:
        items = [(SERIES[way]._replace(width=0), SERIES[way].label) for way in ways]
        left, top, bottom = (50, 26, 306) if variant.wide else (46, 26, 266)
        edge = left if variant.wide else 0
        canvas = Canvas(variant, bottom + 70 + LEGEND_ROW * len(legend_rows(items, variant, edge)))
        axes = canvas.axes(left, top, variant.width - 8, bottom)
        axes.set_xlim(0, len(spots))
        axes.set_ylim(0, highest * (bottom - top) / (bottom - top - 26))
        places = ticks(highest, 1000)
        axes.set_yticks(places, [f"{place:,}" for place in places])
        axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
        axes.axhline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
        axes.axhline(roof, color=COLORS["limit"], linewidth=1.2, clip_on=False)
        axes.set_xticks([place + 0.5 for place in range(len(spots))], ["no" if n % 16 else "yes" for _, n in spots])
        for place, spot in enumerate(spots):
            present = [way for way in ways if (spot, way) in found]
            for turn, way in enumerate(present):
                slow, middle, fast = rates(found[spot, way])
                x = place + 0.5 + (turn - (len(present) - 1) / 2) * 0.19
                line: dict[str, Any] = {"color": COLORS[SERIES[way].color], "linewidth": 1, "solid_capstyle": "butt"}
                axes.plot([x] * 3, [slow, fast, math.nan], clip_on=False, **line)
                axes.plot([x], [middle], clip_on=False, **{**SERIES[way].line(), "linestyle": ""})
                mark(canvas, axes, x, middle, (SERIES[way].label, *spot))
        starts = [place for place, spot in enumerate(spots) if place == 0 or pair_of(spot) != pair_of(spots[place - 1])]
        for start, end in pairwise([*starts, len(spots)]):
            x = on_canvas(canvas, axes, (start + end) / 2, 0)[0]
            canvas.text(x, bottom + 36, pair_of(spots[start]), ha="center")
        canvas.text(left, top - 10 + 22, f"Device copy, {roof:,.0f} GB/s", color="limit")
        canvas.text(0, 14, "GB/s", color="muted")
        canvas.text(left, bottom + 56, "Does 16 divide the number of elements? Type and size", color="muted")
        canvas.legend(edge, bottom + 80, items)
        return canvas

    names = listed([SERIES[way].label for way in ways])
    words = [
        f"{dtype}, {n:,} elements: "
        + ", ".join(f"{SERIES[way].label} {rates(found[(dtype, n), way])[1]:,.0f}" for way in ways if ((dtype, n), way) in found)
        for dtype, n in spots
    ]
    title = f"Memory bandwidth of a negation, for numbers of elements that 16 divides and others: {names}."
    alt = (
        "Dot plot, a column of dots for each type and number of elements. "
        f"Up: memory bandwidth from zero, in GB/s, called from Python. {'; '.join(words)}. "
        f"The copy of the same run, drawn as a line: {roof:,.0f} GB/s."
    )
    table = [[SERIES[way].label, *spot, *numbers(found[spot, way])] for spot in spots for way in ways if (spot, way) in found]
    columns = ["implementation", "type", "number of elements", *TIMES, *RATES]
    return Chart(title, alt, columns, [*table, [LIMIT, None, None, *numbers(copy)]], paint)


CHARTS = {"mask_cost": (mask_cost, ("masking/benchmark",))}
