"""The chart of *A small GPT, trained with it*: the losses of four trainings, and how far each is from the first."""

from typing import Any

from scripts.drawing.data import Chart, Record
from scripts.drawing.names import Names, at_ends
from scripts.drawing.style import SERIES, Canvas
from scripts.drawing.trainings import every_tenth, painted

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
    count, others = len(figures["eager"]), [name for name in NAMES if name != "eager"]
    steps, losses, distances = every_tenth(figures, list(NAMES), others, "eager", 6)
    rows: list[list[Any]] = [
        [step, *(losses[name][at] for name in NAMES), *(distances[name][at] for name in others)] for at, step in enumerate(steps)
    ]

    series = {name: SERIES[LOOKS[name]]._replace(width=1.6) for name in NAMES}
    items = [(series[name], words) for name, words in NAMES.items()]

    def write_names(canvas: Canvas, names: Names, upper: Any, lower: Any, legend: float) -> None:
        ends = [(steps[-1], losses[name][-1]) for name in NAMES]
        if names.direct:
            at_ends(canvas, upper, items, ends)
            at_ends(canvas, lower, items[1:], [(steps[-1], distances[name][-1]) for name in others])
        else:
            names.write(canvas, upper, ends, legend)

    def style(name: str) -> dict[str, Any]:
        """Marks are few and never above each other, so that lines that lie on one another can be told apart."""
        return {**series[name].line(), "markevery": (list(NAMES).index(name), len(NAMES)), "clip_on": False}

    paint = painted(items, steps, losses, distances, style, "PyTorch, flash", rows, len(NAMES) + 2, write_names)
    title = "Losses of a small GPT with four attentions, and the distance of three of them from PyTorch's flash attention."
    said = "; ".join(f"{NAMES[name]} from {losses[name][0]:.4f} to {losses[name][-1]:.4f}" for name in NAMES)
    furthest = "; ".join(f"{NAMES[name]} {max(distances[name]):.1e}" for name in others)
    alt = (
        f"Two line charts over {count} steps of training. Above, the loss: {said}. Below, on a logarithmic scale, the largest "
        f"distance of every ten steps from the training with PyTorch's flash attention: {furthest} at most."
    )
    columns = ["step", *(f"loss, {words}" for words in NAMES.values()), *(f"distance, {NAMES[name]}" for name in others)]
    return Chart(title, alt, columns, rows, paint)


CHARTS = {"attention_losses": (attention_losses, ("attention_backward/model",))}
