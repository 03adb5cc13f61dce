"""The charts of training: the peak memory of a loss over tokens and classes, and a whole step's speed and memory."""

from collections.abc import Callable
from typing import Any, NamedTuple

from scripts.drawing.data import Chart, Record, listed
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Series, Variant, legend_rows, on_canvas

WAYS = {
    "blockwise": SERIES["blockwise"],
    "eager": SERIES["eager"],
    "eager_fp32": Series("PyTorch eager, logits in float32", "peer-4", "v", dashes=(3.5, 1.5)),
    "compile": SERIES["compile"],
    "liger": SERIES["liger"],
}
FLOOR = Series("The two gradients alone", "limit", "s", dashes=(2, 2), hollow=True)
Point = tuple[int, float]


class Panel(NamedTuple):
    """One number of classes: each way's peaks over the tokens, and what the gradients alone take."""

    classes: int
    ways: dict[str, list[Point]]
    missing: list[tuple[int, str]]
    floor: list[Point]

    @property
    def words(self) -> str:
        ends = (f"{WAYS[way].label} {points[-1][1]:.1f} GB for {points[-1][0]:,} tokens" for way, points in self.ways.items())
        return f"{self.classes:,} classes: {'; '.join(ends)}; the gradients alone {self.floor[-1][1]:.1f} GB."

    @property
    def rows(self) -> list[list[Any]]:
        found: list[list[Any]] = []
        for way, points in self.ways.items():
            found += [[self.classes, tokens, WAYS[way].label, gb] for tokens, gb in points]
        found += [[self.classes, tokens, f"{WAYS[way].label}: not enough memory", None] for tokens, way in self.missing]
        return found + [[self.classes, tokens, FLOOR.label, gb] for tokens, gb in self.floor]


def panels_of(figures: Record) -> list[Panel]:
    panels = []
    for classes in dict.fromkeys(row["classes"] for row in figures["rows"]):
        rows = [row for row in figures["rows"] if row["classes"] == classes]
        ways: dict[str, list[Point]] = {way: [] for way in WAYS}
        for row in rows:
            if row["gb"] is not None:
                ways[row["way"]].append((row["tokens"], round(row["gb"], 3)))
        tokens = dict.fromkeys(row["tokens"] for row in rows)
        floor = [(count, round(2 * (classes + count) * figures["hidden"] / 1e9, 3)) for count in tokens]
        missing = [(row["tokens"], row["way"]) for row in rows if row["gb"] is None]
        panels.append(Panel(classes, {way: points for way, points in ways.items() if points}, missing, floor))
    return panels


def loss_peaks(record: Record) -> Chart:
    panels = panels_of(record["figures"])
    shown = [series for way, series in WAYS.items() if any(way in panel.ways for panel in panels)]
    items = [(series, series.label) for series in (*shown, FLOOR)]

    def paint(variant: Variant) -> Canvas:
        left, height, gap, down = (44, 230, 46, 0) if variant.wide else (44, 170, 0, 240)
        room = variant.width - left - 12
        width = (room - gap * (len(panels) - 1)) / len(panels) if variant.wide else room
        bottom = 30 + height + down * (len(panels) - 1)
        canvas = Canvas(variant, bottom + 50 + LEGEND_ROW * len(legend_rows(items, variant, 0)))
        for place, panel in enumerate(panels):
            x, y = (left + place * (width + gap), 30) if variant.wide else (left, 30 + place * down)
            draw_peaks(canvas, panel, (x, y, x + width, y + height))
            canvas.text(x, y - 14, f"{panel.classes:,} classes", fontweight="bold")
            if not place or not variant.wide:
                canvas.text(0, y - 14, "GB", color="muted")
        canvas.text(left, bottom + 38, "Tokens", color="muted")
        canvas.legend(0, bottom + 62, items)
        return canvas

    title = f"Peak memory of a head and its loss with gradients, over tokens: {listed([series.label for series in shown])}."
    alt = (
        f"{len(panels)} line charts, one a number of classes. Across: tokens, on a logarithmic scale. Up: the most memory beyond "
        f"the inputs in GB, from zero, each chart with a scale of its own. {' '.join(panel.words for panel in panels)}"
    )
    table = [row for panel in panels for row in panel.rows]
    return Chart(title, alt, ["classes", "tokens", "implementation", "peak memory (GB)"], table, paint)


def round_step(tallest: float) -> float:
    """Between the numbers of an axis, so that there are four to eight."""
    return next(step * 10**power for power in range(-3, 9) for step in (1, 2, 5) if tallest / (step * 10**power) <= 7)


def draw_peaks(canvas: Canvas, panel: Panel, box: tuple[float, float, float, float]) -> None:
    axes = canvas.axes(*box)
    tokens = [count for count, _ in panel.floor]
    tallest = max(gb for points in [*panel.ways.values(), panel.floor] for _, gb in points)
    axes.set_xscale("log", base=2)
    axes.minorticks_off()
    axes.set_xlim(tokens[0] / 1.15, tokens[-1] * 1.15)
    axes.set_ylim(0, tallest * 1.06)
    axes.set_xticks(tokens, [f"{count // 1024}k" for count in tokens])
    step = round_step(tallest)
    ticks = [step * place for place in range(int(tallest * 1.06 / step) + 1)]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
    axes.axhline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    axes.plot(tokens, [gb for _, gb in panel.floor], clip_on=False, **FLOOR.line())
    for count, gb in panel.floor:
        mark(canvas, axes, count, gb, (panel.classes, count, FLOOR.label, gb))
    for way, points in reversed(panel.ways.items()):
        axes.plot([count for count, _ in points], [gb for _, gb in points], clip_on=False, **WAYS[way].line())
        for count, gb in points:
            mark(canvas, axes, count, gb, (panel.classes, count, WAYS[way].label, gb))


STEP_WAYS = {
    "eager": ("PyTorch, eager", "peer-1"),
    "compile": ("PyTorch, torch.compile", "peer-2"),
    "liger": ("Liger-Kernel", "peer-3"),
    "blockwise": ("Blockwise", "ours"),
    "blockwise_compile": ("Blockwise, torch.compile", "ours"),
}
STEP_COLUMNS = ["implementation", "tokens a second", "peak memory (GB)"]


def training_step(record: Record) -> Chart:
    figures = record["figures"]
    table: list[list[Any]] = [
        [label, round(figures[way]["tokens_per_second"]), round(figures[way]["peak_gb"], 2)]
        for way, (label, _) in STEP_WAYS.items()
        if way in figures
    ]
    colors = [color for way, (_, color) in STEP_WAYS.items() if way in figures]

    def paint(variant: Variant) -> Canvas:
        row, head = 46, 34
        height = head + row * len(table)
        canvas = Canvas(variant, height if variant.wide else 2 * height + 20)
        width = (variant.width - 40) / 2 if variant.wide else variant.width
        for column, words in ((1, "Tokens a second"), (2, "Peak memory, GB")):
            x, y = (0, 0) if column == 1 else (width + 40, 0) if variant.wide else (0, height + 20)
            canvas.text(x, y + 14, words, fontweight="bold")
            axes = canvas.axes(x, y + head, x + width - 60, y + height)
            axes.set_xticks([])
            axes.set_yticks([])
            axes.set_xlim(0, max(line[column] for line in table))
            axes.set_ylim(row * len(table), 0)
            for place, (line, color) in enumerate(zip(table, colors, strict=True)):
                at = row * place + 26
                axes.barh([at], [line[column]], height=12, color=COLORS[color], clip_on=False)
                axes.plot([line[column]], [at], marker="|", markersize=12, color=COLORS[color], clip_on=False)
                mark(canvas, axes, line[column], at, tuple(line), (0, at))
                end, up = on_canvas(canvas, axes, line[column], at)
                canvas.text(x, up - 11, line[0], color="muted")
                canvas.text(end + 6, up + 5, f"{line[column]:,}", fontweight="bold" if color == "ours" else "normal")
        return canvas

    title = "One training step of a small Llama: tokens a second, and the most memory."
    said = "; ".join(f"{label} {tokens:,} and {gb:.1f} GB" for label, tokens, gb in table)
    alt = f"Two bar charts from zero, of tokens a second and of peak memory in GB, a bar for each way: {said}."
    return Chart(title, alt, STEP_COLUMNS, table, paint)


CHARTS: dict[str, tuple[Callable[..., Chart], tuple[str, ...]]] = {
    "training_peaks": (loss_peaks, ("training/peaks",)),
    "training_step": (training_step, ("training/one_step",)),
}
