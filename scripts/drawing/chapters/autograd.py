"""The chart of *Autograd*: two trainings' losses, and how far each is from a training in float64."""

from typing import Any

from scripts.drawing.data import Chart, Record
from scripts.drawing.names import Names, at_ends
from scripts.drawing.style import SERIES, Canvas
from scripts.drawing.trainings import every_tenth, painted

NAMES = {"eager": "PyTorch's operations", "blockwise": "our kernels"}


def autograd_losses(record: Record) -> Chart:
    """Every tenth loss. The distance from float64 is each window's largest, so that no step is hidden."""
    figures = record["figures"]
    count = len(figures["float64"])
    steps, losses, distances = every_tenth(figures, list(NAMES), list(NAMES), "float64", 9)
    rows: list[list[Any]] = [
        [step, *(losses[name][at] for name in NAMES), *(distances[name][at] for name in NAMES)] for at, step in enumerate(steps)
    ]

    series = {name: SERIES[name]._replace(marker="o", width=1.6 if name == "blockwise" else 4) for name in NAMES}
    items = [(series[name], words) for name, words in NAMES.items()]

    def write_names(canvas: Canvas, names: Names, upper: Any, lower: Any, legend: float) -> None:
        if names.direct:
            at_ends(canvas, upper, items, [(steps[-1], curve[-1]) for curve in losses.values()])
        names.write(canvas, lower, [(steps[-1], curve[-1]) for curve in distances.values()], legend)

    def style(name: str) -> dict[str, Any]:
        return {**series[name].line(), "marker": "", "clip_on": False}

    below = "the same training in float64"
    paint = painted(items, steps, losses, distances, style, below, rows, len(NAMES) + 1, write_names)
    title = "Losses of a small transformer with PyTorch's operations and with our kernels, and their distance from float64."
    said = "; ".join(f"{NAMES[name]} from {losses[name][0]:.4f} to {losses[name][-1]:.4f}" for name in NAMES)
    furthest = "; ".join(f"{NAMES[name]} {max(distances[name]):.1e}" for name in NAMES)
    alt = (
        f"Two line charts over {count} steps of training. Above, the loss: {said}. "
        f"Below, on a logarithmic scale, the largest distance of every ten steps from the losses in float64: {furthest} at most."
    )
    columns = ["step", *(f"loss, {words}" for words in NAMES.values())]
    columns += [f"distance from float64, {words}" for words in NAMES.values()]
    return Chart(title, alt, columns, rows, paint)


CHARTS = {"autograd_losses": (autograd_losses, ("autograd/train",))}
