"""The chart of the templates: bandwidth of each beside PyTorch's own operation, under the bandwidth of a plain copy."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from scripts.drawing.data import RATES, TIMES, Chart, Record, choose, numbers, rates, ticks
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Variant, legend_rows, on_canvas

LIMIT = "device copy (the limit drawn)"
NAMES = {
    "square": "square",
    "add_row": "add a row",
    "add_row_strided": "strided",
    "transpose": "transpose",
    "row_sum": "row sums",
    "total": "total",
    "largest": "largest",
    "histogram": "histogram",
}
SLOT = 0.24


class Panel(NamedTuple):
    """The cases of one record: what was measured for each operation, by implementation, and the copy of the same run."""

    heading: str
    operations: dict[str, list[Record]]
    copy: Record

    @property
    def roof(self) -> float:
        return rates(self.copy)[1]


def panel_of(heading: str, record: Record) -> Panel:
    rows = choose(record, timing="call")
    operations = {
        operation: [row for name in SERIES for row in rows if row["op"] == operation and row["implementation"] == name]
        for operation in NAMES
        if any(row["op"] == operation for row in rows)
    }
    return Panel(heading, operations, record["ceilings"]["copy"])


def patterns_bandwidth(maps: Record, reductions: Record) -> Chart:
    panels = [panel_of("Read and written", maps), panel_of("Read, and reduced", reductions)]
    measured = [row for panel in panels for rows in panel.operations.values() for row in rows]
    shown = [name for name in SERIES if any(row["implementation"] == name for row in measured)]
    tallest = max(max(rates(row)[2] for row in measured), *(panel.roof for panel in panels))
    size = measured[0]["shape"].replace("x", " × ")

    def paint(variant: Variant) -> Canvas:
        items = [(SERIES[name]._replace(dashes=(), width=0), SERIES[name].label) for name in shown]
        left, height, gap = (50, 270, 34) if variant.wide else (46, 210, 84)
        top, across = 26, len(panels) if variant.wide else 1
        width = (variant.width - left - 8 - gap * (across - 1)) / across
        deep = height if variant.wide else len(panels) * height + gap
        canvas = Canvas(variant, top + deep + 38 + LEGEND_ROW * len(legend_rows(items, variant, 0)))
        for place, panel in enumerate(panels):
            x, y = (left + place * (width + gap), top) if variant.wide else (left, top + place * (height + gap))
            axes = draw_panel(canvas, panel, (x, y, x + width, y + height), tallest * height / (height - 34))
            canvas.text(x, y - 12, panel.heading, fontweight="bold")
            if place and variant.wide:
                axes.set_yticklabels([])
            else:
                canvas.text(0, y - 12, "GB/s", color="muted")
        canvas.legend(0, top + deep + 48, items)
        return canvas

    title = f"Memory bandwidth of each template and of PyTorch’s own operation, on {size} numbers in float32."
    alt = (
        "Dot chart on stems, two panels: operations that write as much as they read, and reductions, which only read. "
        "Up: memory bandwidth from zero, in GB/s, called from Python. "
        f"{' '.join(sentence(NAMES[op], rows) for panel in panels for op, rows in panel.operations.items())} "
        f"A line in each panel marks the device copy of the same run, {' and '.join(f'{p.roof:,.0f} GB/s' for p in panels)}."
    )
    table = [
        [NAMES[operation], SERIES[row["implementation"]].label, *numbers(row)]
        for panel in panels
        for operation, rows in panel.operations.items()
        for row in rows
    ]
    limits = [[panel.heading.lower(), LIMIT, *numbers(panel.copy)] for panel in panels]
    return Chart(title, alt, ["operation", "implementation", *TIMES, *RATES], [*table, *limits], paint)


def sentence(operation: str, rows: Sequence[Record]) -> str:
    words = ", ".join(f"{SERIES[row['implementation']].label} {rates(row)[1]:,.0f} GB/s" for row in rows)
    return f"{operation[0].upper()}{operation[1:]}: {words}."


def draw_panel(canvas: Canvas, panel: Panel, box: tuple[float, float, float, float], top: float) -> Axes:
    """A place across for each operation, and there a stem from zero to the rate of each implementation."""
    axes = canvas.axes(*box)
    axes.set_xlim(-0.55, len(panel.operations) - 0.45)
    axes.set_ylim(0, top)
    axes.set_yticks(ticks(top, 1000), [f"{tick:,}" for tick in ticks(top, 1000)])
    axes.set_xticks(range(len(panel.operations)), [NAMES[operation] for operation in panel.operations])
    axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
    axes.axhline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    axes.axhline(panel.roof, color=COLORS["limit"], linewidth=1.2, clip_on=False)
    for place, (operation, rows) in enumerate(panel.operations.items()):
        for turn, row in enumerate(rows):
            series, x = SERIES[row["implementation"]], place + SLOT * (turn - (len(rows) - 1) / 2)
            slow, middle, fast = (round(rate, 1) for rate in rates(row))
            style: dict[str, Any] = {"color": COLORS[series.color], "clip_on": False}
            axes.vlines([x], [0], [middle], linewidth=series.width, linestyles=(0, series.dashes or (1, 0)), **style)
            axes.plot([x, x, math.nan], [slow, fast, math.nan], linewidth=1, solid_capstyle="butt", **style)
            axes.plot([x], [middle], clip_on=False, **{**series.line(), "linestyle": ""})
            mark(canvas, axes, x, middle, (NAMES[operation], series.label, *numbers(row)), (x, 0))
    x, y = on_canvas(canvas, axes, axes.get_xlim()[1], panel.roof)
    for line, words in enumerate(("Device copy,", f"{panel.roof:,.0f} GB/s")):
        canvas.text(x, y - 21 + 15 * line, words, color="limit", ha="right")
    return axes


CHARTS = {
    "patterns_bandwidth": (patterns_bandwidth, ("patterns/benchmark_maps", "patterns/benchmark_reductions")),
}
