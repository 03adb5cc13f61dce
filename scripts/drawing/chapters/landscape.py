"""The charts of *The whole list*: every configuration, the fastest first, for each shape and for each dtype."""

from typing import Any, NamedTuple

from scripts.drawing.data import Chart, Record
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, Canvas, Series, Variant, legend_rows

SIZES = ("block_m", "block_n", "block_k", "group_m", "num_warps", "num_stages")
COLUMNS = ["rank", "BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "warps", "stages", "TFLOP/s", "time p20 (µs)"]
COLUMNS += ["time p50 (µs)", "time p80 (µs)", "registers", "bytes spilled", "shared memory (bytes)", "programs a multiprocessor"]
COLUMNS += ["occupancy", "compiled in (s)", "why it failed"]
WHOLE = Series("nothing spilled", "ours", "o", width=0)
SPILLED = Series("registers spilled", "peer-3", "^", width=0, hollow=True)
FIRST = Series("the winner of the first", "memory", "s", width=0)


class Panel(NamedTuple):
    """One shape or dtype: its configurations with a time, the fastest first, those without one, the library's rate and time."""

    name: str
    heading: str
    ranked: list[Record]
    failed: list[Record]
    library: float
    library_us: float

    @property
    def words(self) -> str:
        if not self.ranked:
            return f"{self.heading}: none has a time, {len(self.failed)} failed."
        best, last = self.ranked[0], self.ranked[-1]
        return (
            f"{self.heading}: from {best['tflops']:,.0f} TFLOP/s with {named(best)} down to {last['tflops']:,.0f} with "
            f"{named(last)}, {len(self.failed)} failed, cuBLAS {self.library:,.0f}."
        )


def named(row: Record) -> str:
    tile = "×".join(str(row[size]) for size in SIZES[:3])
    return f"{tile}, {row['num_warps']} warps, {row['num_stages']} stages"


def panel_of(name: str, heading: str, tried: Record) -> Panel:
    ranked = sorted((row for row in tried["rows"] if row["us"] is not None), key=lambda row: row["us"])
    failed = [row for row in tried["rows"] if row["us"] is None]
    rate = round(tried["flops"] / tried["library_us"] / 1e6, 1)
    return Panel(name, heading, ranked, failed, rate, round(tried["library_us"], 2))


def in_words(shape: str) -> str:
    m, n, k = (int(size) for size in shape.split("x"))
    return f"{m:,} × {n:,}, {k:,} terms"


def line_of(panel: Panel, rank: int | None, row: Record) -> list[Any]:
    speed = [row["tflops"], row["us_p20"], row["us"], row["us_p80"]]
    taken = [row.get(field) for field in ("registers", "spills", "shared", "programs", "occupancy", "compile_s")]
    return [panel.name, rank, *(row[size] for size in SIZES), *speed, *taken, row["failure"]]


def landscape(record: Record) -> Chart:
    shapes = record["figures"]["shapes"]
    return drawn("shape", [panel_of(shape, in_words(shape), tried) for shape, tried in shapes.items()])


def landscape_dtypes(record: Record) -> Chart:
    """The first of the shapes, in each dtype."""
    dtypes = next(iter(record["figures"]["shapes"].values()))
    return drawn("dtype", [panel_of(dtype, dtype, tried) for dtype, tried in dtypes.items()])


def drawn(what: str, panels: list[Panel]) -> Chart:
    first = [panels[0].ranked[0][size] for size in SIZES]
    items = [(WHOLE, WHOLE.label), (SPILLED, SPILLED.label), (FIRST, f"{FIRST.label} {what}")]
    height, head = 132, 30

    def paint(variant: Variant) -> Canvas:
        legend = LEGEND_ROW * len(legend_rows(items, variant, 0))
        canvas = Canvas(variant, (height + head + 16) * len(panels) + legend + 22)
        y = 0.0
        for panel in panels:
            canvas.text(0, y + 14, panel.heading, fontweight="bold")
            canvas.text(variant.width - 8, y + 22, f"cuBLAS {panel.library:,.0f} TFLOP/s", color="limit", ha="right")
            draw(canvas, panel, first, (40, y + head, variant.width - 8, y + head + height))
            y += height + head + 16
        canvas.text(variant.width - 8, y + 4, "configurations, the fastest first", color="muted", ha="right")
        canvas.legend(0, y + 10 + LEGEND_ROW, items)
        return canvas

    title = f"Every configuration of one kernel for each {what}, the fastest first, and those that fail at the end."
    alt = (
        f"{len(panels)} charts, one a {what}, of {len(panels[0].ranked) + len(panels[0].failed)} configurations. Across: the "
        f"configurations, the fastest first. Up: TFLOP/s from zero. {' '.join(panel.words for panel in panels)}"
    )
    table: list[list[Any]] = []
    for panel in panels:
        table += [line_of(panel, rank, row) for rank, row in enumerate(panel.ranked, 1)]
        table += [line_of(panel, None, row) for row in panel.failed]
        library = [panel.library, None, panel.library_us, None]
        table.append([panel.name, None, *[None] * 6, *library, *[None] * 6, "cuBLAS (the line drawn)"])
    return Chart(title, alt, [what, *COLUMNS], table, paint)


def draw(canvas: Canvas, panel: Panel, first: list[int], box: tuple[float, float, float, float]) -> None:
    axes = canvas.axes(*box)
    top = max([panel.library, *(row["tflops"] for row in panel.ranked)])
    count = len(panel.ranked) + len(panel.failed)
    axes.set_xlim(0, count + 1)
    axes.set_ylim(0, top * 1.04)
    axes.set_xticks([])
    axes.set_yticks([0, 100 * max(1, int(top / 100))])
    axes.axhline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    axes.axhline(panel.library, color=COLORS["limit"], linewidth=1.4, clip_on=False)
    for series, spilled in ((WHOLE, False), (SPILLED, True)):
        chosen = [(rank, row["tflops"]) for rank, row in enumerate(panel.ranked, 1) if bool(row["spills"]) == spilled]
        style = series.line() | {"linestyle": "", "markersize": 4}
        axes.plot([rank for rank, _ in chosen], [rate for _, rate in chosen], clip_on=False, zorder=2, **style)
    for rank, row in enumerate(panel.ranked, 1):
        mark(canvas, axes, rank, row["tflops"], tuple(line_of(panel, rank, row)))
    own = [(rank, row["tflops"]) for rank, row in enumerate(panel.ranked, 1) if [row[size] for size in SIZES] == first]
    style = FIRST.line() | {"linestyle": "", "markersize": 7}
    axes.plot([rank for rank, _ in own], [rate for _, rate in own], clip_on=False, zorder=3, **style)
    if panel.failed:
        axes.axvspan(len(panel.ranked) + 0.6, count + 1, color=COLORS["panel"], linewidth=0, zorder=0, clip_on=False)
        canvas.text(box[2] - 4, box[1] + 46, f"{len(panel.failed)} fail", color="muted", ha="right")


CHARTS = {
    "landscape": (landscape, ("landscape/search",)),
    "landscape_dtypes": (landscape_dtypes, ("landscape/dtypes",)),
}
