"""Where in a drawing each row of its table stands, for readers who point at it or walk through it by keyboard."""

from typing import Any, NamedTuple

from matplotlib.axes import Axes

from scripts.drawing.style import Canvas, on_canvas


class Mark(NamedTuple):
    """What stands for a row: the cells that tell it from all others, its place, and where its bar begins, if it is one."""

    cells: tuple[Any, ...]
    axes: Axes | None
    x: float
    y: float
    start: tuple[float, float] | None


def mark(
    canvas: Canvas, axes: Axes | None, x: float, y: float, cells: tuple[Any, ...], start: tuple[float, float] | None = None
) -> None:
    """Note that the row with these cells stands at (x, y), in the units of the axes, or in pixels where there are none."""
    canvas.marks.append(Mark(cells, axes, x, y, start))


def spots(canvas: Canvas, rows: list[list[Any]]) -> list[str]:
    """Of each mark: the number of its row and its place in pixels; of a bar, the place where it begins, too."""
    found = sorted(((row_of(mark.cells, rows), mark) for mark in canvas.marks), key=lambda pair: pair[0])
    places = [where(canvas, mark.axes, (mark.x, mark.y)) + where(canvas, mark.axes, mark.start) for _, mark in found]
    return [" ".join(f"{number:g}" for number in (row, *place)) for (row, _), place in zip(found, places, strict=True)]


def row_of(cells: tuple[Any, ...], rows: list[list[Any]]) -> int:
    matching = [number for number, row in enumerate(rows) if holds(row, cells)]
    if len(matching) != 1:
        raise ValueError(f"{cells} stand in {len(matching)} rows of the chart's table, and should in one")
    return matching[0]


def holds(row: list[Any], cells: tuple[Any, ...]) -> bool:
    """Whether the cells stand in the row, in their order."""
    left = iter(row)
    return all(any(cell == found for found in left) for cell in cells)


def where(canvas: Canvas, axes: Axes | None, place: tuple[float, float] | None) -> list[float]:
    if place is None:
        return []
    x, y = on_canvas(canvas, axes, *place) if axes else place
    return [round(x, 1), round(y, 1)]
