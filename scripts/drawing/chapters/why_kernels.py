"""Charts of *Why write a kernel*: what fusing saves, beside what counted bytes predict and what the matrix product leaves."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from scripts.drawing.data import Chart, Record, choose
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, Canvas, Variant, on_canvas

# Bytes that pass through memory, in passes over the matrix. Dropout's mask has one byte where the matrix has two.
PASSES = {"eager": 6.5, "eager_two": 4.5, "compile": 2.0, "one_by_one": 2.0, "blockwise": 2.0}
TAIL = {
    "eager": ("eager,", "three"),
    "eager_two": ("eager,", "two"),
    "compile": ("torch.", "compile"),
    "one_by_one": ("kernel,", "by one"),
    "blockwise": ("kernel,", "by four"),
}
PEERS = {"eager": "peer-1", "eager_two": "peer-1", "compile": "peer-2"}
HALF = {"eager": ("PyTorch", "eager"), "compile": TAIL["compile"], "blockwise": ("with our", "kernel")}
QUANTILES = ["time p20 (µs)", "time p50 (µs)", "time p80 (µs)"]


class Column(NamedTuple):
    """One implementation's times in microseconds, and what counted bytes predict, where that is drawn."""

    name: str
    lines: tuple[str, str]
    times: list[float]
    predicted: float | None = None

    @property
    def label(self) -> str:
        return " ".join(self.lines).replace(". ", ".")

    @property
    def words(self) -> str:
        predicted = "" if self.predicted is None else f" ({self.predicted:,.0f} predicted)"
        return f"{self.label} {self.times[1]:,.0f} µs{predicted}"


class Panel(NamedTuple):
    """Columns of one case, with the limit that no fusing passes."""

    heading: str
    columns: list[Column]
    limit: float
    limit_words: str


def microseconds(row: Record) -> list[float]:
    return [round(1e3 * ms, 1) for ms in row["ms"]]


def columns_of(record: Record, op: str, shape: str, labels: dict[str, tuple[str, str]]) -> list[Column]:
    rows = {row["implementation"]: row for row in choose(record, op=op, shape=shape, timing="call")}
    return [Column(name, labels[name], microseconds(rows[name])) for name in labels]


def mlp_tail(record: Record) -> Chart:
    shape = "8192x16384"
    copy = record["ceilings"]["copy"]
    matrix = choose(record, op="mlp_tail", shape=shape)[0]["bytes"] / 2
    once = matrix / (copy["bytes"] / copy["ms"][1]) * 1e3
    found = columns_of(record, "mlp_tail", shape, TAIL)
    columns = [column._replace(predicted=round(PASSES[column.name] * once, 1)) for column in found]
    panel = Panel("", columns, round(2 * once, 1), "The floor: two passes at the copy's rate")
    title = f"Time of bias, GELU and dropout of a bfloat16 matrix of {shape.replace('x', ' × ')}, predicted and measured."
    alt = (
        "Bar chart, a bar for each implementation. Up: time in microseconds, from zero. "
        "A hollow mark at each bar is the time that its counted bytes would take at the rate of a plain copy. "
        f"{'; '.join(column.words for column in columns)}. "
        f"A line at {panel.limit:,.0f} µs marks the least: the matrix read once and written once at the copy's rate."
    )
    names = ["implementation", "passes over the matrix", "predicted (µs)", *QUANTILES]
    table: list[list[Any]] = [[c.label, PASSES[c.name], c.predicted, *c.times] for c in columns]
    return Chart(title, alt, names, table, partial(paint, [panel]))


def mlp_half(record: Record) -> Chart:
    panels = []
    for hidden in (4096, 16384):
        shape = f"8192x4096x{hidden}"
        (alone,) = choose(record, op="mlp_half", shape=shape, implementation="product", timing="call")
        words = "The matrix product alone"
        panels.append(Panel(f"4096 → {hidden}", columns_of(record, "mlp_half", shape, HALF), microseconds(alone)[1], words))
    title = "Time of LayerNorm, linear layer, GELU and dropout of 8192 tokens in bfloat16, beside the matrix product alone."
    alt = (
        "Bar chart in two parts, for a linear layer from 4096 to 4096 and one from 4096 to 16384. "
        "Up: time in microseconds, from zero. "
        + " ".join(
            f"{panel.heading}: {'; '.join(c.words for c in panel.columns)}; the matrix product alone {panel.limit:,.0f} µs."
            for panel in panels
        )
    )
    names = ["linear layer", "implementation", *QUANTILES, "matrix product alone, p50 (µs)"]
    table: list[list[Any]] = [[panel.heading, c.label, *c.times, panel.limit] for panel in panels for c in panel.columns]
    return Chart(title, alt, names, table, partial(paint, panels))


def paint(panels: Sequence[Panel], variant: Variant) -> Canvas:
    """Side by side where there is room, else one under the other."""
    left, top, height, gap = (50, 46, 270, 52) if variant.wide else (44, 46, 210, 0)
    foretold = any(column.predicted is not None for panel in panels for column in panel.columns)
    step = 0 if variant.wide else top + height + 56
    end = top + height + step * (len(panels) - 1)
    canvas = Canvas(variant, end + (74 if foretold else 46))
    width = (variant.width - left - 4 - gap * (len(panels) - 1)) / (len(panels) if variant.wide else 1)
    for place, panel in enumerate(panels):
        x, y = (left + place * (width + gap), 0) if variant.wide else (left, place * step)
        draw_panel(canvas, panel, (x, y + top, x + width, y + top + height))
        canvas.text(x, y + 14, panel.heading, fontweight="bold")
    canvas.text(0, 14, "µs", color="muted")
    if foretold:
        canvas.line([left + 6], [end + 59.5], **MARK)
        canvas.text(left + 18, end + 64, "predicted from counted bytes")
    return canvas


MARK: dict[str, Any] = {
    "linestyle": "",
    "marker": "D",
    "markersize": 7,
    "markerfacecolor": COLORS["paper"],
    "markeredgecolor": COLORS["ink"],
    "markeredgewidth": 1.3,
}


def draw_panel(canvas: Canvas, panel: Panel, box: tuple[float, float, float, float]) -> None:
    count = len(panel.columns)
    axes = canvas.axes(*box)
    tallest = max(value for c in panel.columns for value in (*c.times, c.predicted or 0, panel.limit))
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(0, tallest * 1.14)
    axes.set_xticks([])
    step = next(step for step in (50, 100, 200, 500, 1000, 2000) if tallest / step <= 6)
    ticks = range(0, int(tallest * 1.14) + 1, step)
    axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
    axes.axhline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    pixel = count / (box[2] - box[0])
    for place, column in enumerate(panel.columns):
        color = COLORS[PEERS.get(column.name, "ours")]
        axes.bar([place], [column.times[1]], width=34 * pixel, color=color, zorder=1.8, clip_on=False)
        axes.plot([place] * 2, [column.times[0], column.times[2]], color=COLORS["ink"], linewidth=1.2, clip_on=False)
        if column.predicted is not None:
            axes.plot([place], [column.predicted], clip_on=False, zorder=3, **MARK)
        heading = [panel.heading] if panel.heading else []
        mark(canvas, axes, place, column.times[1], (*heading, column.label, *column.times), (place, 0))
        x, y = on_canvas(canvas, axes, place, max(column.times[2], column.predicted or 0))
        canvas.text(x, y - 10, f"{column.times[1]:,.0f}", ha="center", fontweight="bold")
        for line, words in enumerate(column.lines):
            canvas.text(x, box[3] + 18 + 16 * line, words, color="muted", ha="center")
    axes.axhline(panel.limit, color=COLORS["limit"], linewidth=1.4, clip_on=False)
    canvas.line([box[0], box[0] + 16], [box[1] - 16.5] * 2, color=COLORS["limit"], linewidth=1.4)
    canvas.text(box[0] + 22, box[1] - 12, panel.limit_words, color="limit")


CHARTS: dict[str, tuple[Callable[..., Chart], tuple[str, ...]]] = {
    "mlp_tail": (mlp_tail, ("why_kernels/fused",)),
    "mlp_half": (mlp_half, ("why_kernels/fused",)),
}
