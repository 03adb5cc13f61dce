"""The chart of *A small GPT, trained with it*: the losses of four trainings, and how far each is from the first."""

from typing import Any

from scripts.drawing.data import Chart, Record
from scripts.drawing.names import Names, at_ends
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, SERIES, Canvas, Variant

EVERY = 10
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NAMES = {
    "eager": "PyTorch, flash",
    "plain": "PyTorch, unfused",
    "blockwise": "kernels.attention",
    "compiled": "the same, compiled",
}
LOOKS = {"eager": "eager", "plain": "unfused", "blockwise": "blockwise", "compiled": "compile"}


def attention_losses(record: Record) -> Chart:
    """Every tenth loss, and the largest distance from the first training in every ten steps."""
    figures = record["figures"]
    count = len(figures["eager"])
    steps = list(range(0, count, EVERY))
    losses = {name: [round(figures[name][step], 4) for step in steps] for name in NAMES}
    others = [name for name in NAMES if name != "eager"]
    off = {name: [abs(a - b) for a, b in zip(figures[name], figures["eager"], strict=True)] for name in others}
    distances = {name: [round(max(*off[name][step : step + EVERY], 1e-6), 6) for step in steps] for name in others}
    rows: list[list[Any]] = [
        [step, *(losses[name][at] for name in NAMES), *(distances[name][at] for name in others)] for at, step in enumerate(steps)
    ]

    def paint(variant: Variant) -> Canvas:
        series = {name: SERIES[LOOKS[name]]._replace(width=1.6) for name in NAMES}
        items = [(series[name], words) for name, words in NAMES.items()]
        left, first, second = (50, 200, 130) if variant.wide else (46, 160, 120)
        base = 26 + first + 44
        names = Names(variant, items)
        canvas = Canvas(variant, base + second + 50 + names.legend)
        right = variant.width - names.margin
        upper = canvas.axes(left, 26, right, 26 + first)
        lower = canvas.axes(left, base, right, base + second)
        for axes in (upper, lower):
            axes.set_xlim(0, steps[-1])
            axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
        upper.set_xticks([])
        for turn, (name, curve) in enumerate(losses.items()):
            upper.plot(steps, curve, **style(series[name], turn))
        lower.set_yscale("log")
        lower.minorticks_off()
        highest = max(value for values in distances.values() for value in values)
        lowest = min(value for values in distances.values() for value in values) / 2
        powers = [power for power in range(-7, 2) if lowest <= 10.0**power <= 2 * highest]
        lower.set_yticks([10.0**power for power in powers], [f"10{str(power).translate(RAISED)}" for power in powers])
        lower.set_ylim(lowest, 2 * highest)
        for turn, (name, distance) in enumerate(distances.items(), 1):
            lower.plot(steps, distance, **style(series[name], turn))
        canvas.text(0, 14, "Loss", fontweight="bold")
        canvas.text(0, base - 12, "Distance from PyTorch, flash", fontweight="bold")
        canvas.text(left, base + second + 37, "Step", color="muted")
        for row in rows:
            mark(canvas, upper, row[0], row[1], tuple(row))
            mark(canvas, lower, row[0], row[len(NAMES) + 2], tuple(row))
        ends = {name: (steps[-1], losses[name][-1]) for name in NAMES}
        if names.direct:
            at_ends(canvas, upper, items, list(ends.values()))
            at_ends(canvas, lower, items[1:], [(steps[-1], distances[name][-1]) for name in others])
        else:
            names.write(canvas, upper, list(ends.values()), base + second + 61)
        return canvas

    title = "Losses of a small GPT with four attentions, and the distance of three of them from PyTorch's flash attention."
    said = "; ".join(f"{NAMES[name]} from {losses[name][0]:.4f} to {losses[name][-1]:.4f}" for name in NAMES)
    furthest = "; ".join(f"{NAMES[name]} {max(distances[name]):.1e}" for name in others)
    alt = (
        f"Two line charts over {count} steps of training. Above, the loss: {said}. Below, on a logarithmic scale, the largest "
        f"distance of every ten steps from the training with PyTorch's flash attention: {furthest} at most."
    )
    columns = ["step", *(f"loss, {words}" for words in NAMES.values()), *(f"distance, {NAMES[name]}" for name in others)]
    return Chart(title, alt, columns, rows, paint)


def style(series: Any, first: int) -> dict[str, Any]:
    """Marks are few and never above each other, so that lines that lie on one another can be told apart."""
    return {**series.line(), "markevery": (first, len(NAMES)), "clip_on": False}


CHARTS = {"attention_losses": (attention_losses, ("attention_backward/model",))}
