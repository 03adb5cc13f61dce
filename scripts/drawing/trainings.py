"""Two charts above each other over the steps of some trainings: their losses, and how far each is from another training."""

from collections.abc import Callable
from typing import Any

from scripts.drawing.names import Names
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, Canvas, Variant

EVERY = 10
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
Curves = dict[str, list[float]]


def every_tenth(
    figures: Curves, names: list[str], others: list[str], against: str, digits: int
) -> tuple[list[int], Curves, Curves]:
    """Every tenth step, its losses, and of each window the largest distance from a training, so that no step is hidden."""
    steps = list(range(0, len(figures[against]), EVERY))
    losses = {name: [round(figures[name][step], 4) for step in steps] for name in names}
    off = {name: [abs(a - b) for a, b in zip(figures[name], figures[against], strict=True)] for name in others}
    least = 10.0**-digits
    distances = {name: [round(max(*off[name][step : step + EVERY], least), digits) for step in steps] for name in others}
    return steps, losses, distances


def painted(
    items: list[tuple[Any, str]],
    steps: list[int],
    losses: Curves,
    distances: Curves,
    style: Callable[[str], dict[str, Any]],
    distance_from: str,
    rows: list[list[Any]],
    marked: int,
    write_names: Callable[[Canvas, Names, Any, Any, float], None],
) -> Callable[[Variant], Canvas]:
    """What draws both. Spots lie on the first losses and on the column `marked` of the rows; `write_names` names the lines."""

    def paint(variant: Variant) -> Canvas:
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
        for name, curve in losses.items():
            upper.plot(steps, curve, **style(name))
        lower.set_yscale("log")
        lower.minorticks_off()
        highest = max(value for values in distances.values() for value in values)
        lowest = min(value for values in distances.values() for value in values) / 2
        powers = [power for power in range(-9, 2) if lowest <= 10.0**power <= 2 * highest]
        lower.set_yticks([10.0**power for power in powers], [f"10{str(power).translate(RAISED)}" for power in powers])
        lower.set_ylim(lowest, 2 * highest)
        for name, distance in distances.items():
            lower.plot(steps, distance, **style(name))
        canvas.text(0, 14, "Loss", fontweight="bold")
        canvas.text(0, base - 12, f"Distance from {distance_from}", fontweight="bold")
        canvas.text(left, base + second + 37, "Step", color="muted")
        for row in rows:
            mark(canvas, upper, row[0], row[1], tuple(row))
            mark(canvas, lower, row[0], row[marked], tuple(row))
        write_names(canvas, names, upper, lower, base + second + 61)
        return canvas

    return paint
