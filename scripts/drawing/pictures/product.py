"""One tile of a product and its walk along K, step by step, as a recorded run took it."""

from typing import Any, NamedTuple

from scripts.drawing.data import Record
from scripts.drawing.pictures.sheet import Box, Picture, Sheet
from scripts.drawing.style import Variant

PROGRAM = 0
GAP = 3  # cells between the matrices, so that a tile may reach over an edge
Cell = tuple[int, int]


class Step(NamedTuple):
    """What one round loads of a and of b, lanes behind an edge among them, and a sum of the tile afterwards."""

    first: int
    loaded: dict[str, list[Cell]]
    masked: dict[str, list[Cell]]
    total: str


def product_walk(record: Record) -> Picture:
    events = record["programs"][PROGRAM]["events"]
    shapes = {name: tensor["shape"] for name, tensor in record["tensors"].items()}
    steps = walked(events, shapes)
    store = next(event for event in events if event["op"] == "store")
    tile = [divmod(offset, shapes["c"][1]) for offset in lanes(store, "on")]
    rows = [
        [i, step.first, len(step.loaded["a"]), len(step.loaded["b"]), len(step.masked["a"]) + len(step.masked["b"]), step.total]
        for i, step in enumerate(steps)
    ]
    (m, k), n = shapes["a"], shapes["c"][1]
    title = f"One program's tile of c, on its walk along K in {len(steps)} steps."
    caption = (
        f"{title} A recorded run: a of {m} by {k} times b of {k} by {n}. Filled is what a step loads; pale, what was loaded "
        "before; hatched, what the mask leaves out. The number is the sum for the tile's first element so far."
    )
    totals = ", then ".join(step.total for step in steps)
    alt = (
        f"Three matrices, {len(steps)} times. The tile of c stays where it is. The tile of a moves to the right and the tile of "
        f"b moves down, in step. The first element's sum becomes {totals}."
    )
    columns = ["step", "first k", "numbers of a", "numbers of b", "masked", "first sum so far"]
    return Picture(title, caption, alt, columns, rows, lambda size: painted(size, steps, tile, shapes))


def walked(events: list[dict[str, Any]], shapes: dict[str, list[int]]) -> list[Step]:
    steps: list[Step] = []
    loaded: dict[str, list[Cell]] = {}
    masked: dict[str, list[Cell]] = {}
    first = 0
    for event in events:
        if event["op"] == "loop":
            first, loaded, masked = event["runs"][0][0], {}, {}
        elif event["op"] == "load":
            name, rows = event["tensor"], event["shape"][0]
            across = event["shape"][1]
            inside = {divmod(offset, shapes[name][1]) for offset in lanes(event, "on")}
            corner = min(inside)
            every = [(corner[0] + i, corner[1] + j) for i in range(rows) for j in range(across)]
            loaded[name], masked[name] = sorted(inside), [cell for cell in every if cell not in inside]
        elif event["op"] == "dot":
            steps.append(Step(first, loaded, masked, event["values"].split()[0]))
    return steps


def lanes(event: dict[str, Any], state: str) -> list[int]:
    """The offsets of an access in one state, from runs and repeated rows of runs."""
    found: list[int] = []
    for item in event["lanes"]:
        times, shift, row = item if isinstance(item[-1], list) else (1, 0, [item])
        for turn in range(times):
            for kind, first, count, step in row:
                if kind == state:
                    found += [first + turn * shift + i * step for i in range(count)]
    return found


def painted(size: Variant, steps: list[Step], tile: list[Cell], shapes: dict[str, list[int]]) -> Sheet:
    (m, k), n = shapes["a"], shapes["c"][1]
    gap = 28 if size.wide else 12
    wide = (size.width - gap * (len(steps) - 1)) / len(steps)
    cell = (wide - 2) / (k + GAP + n)
    tall = cell * (k + GAP + m)
    sheet = Sheet(size, tall + 48)
    for place, step in enumerate(steps):
        left = 1 + place * (wide + gap)
        right, down = left + cell * (k + GAP), 1 + cell * (k + GAP)
        corners = {"a": (left, down), "b": (right, 1), "c": (right, down)}

        def boxes(name: str, cells: list[Cell], at: dict[str, tuple[float, float]] = corners) -> list[Box]:
            return [(at[name][0] + cell * column, at[name][1] + cell * row, cell, cell) for row, column in cells]

        for name, (x, y) in corners.items():
            rows, columns = shapes[name]
            sheet.boxes([(x, y, cell * columns, cell * rows)], "panel", "memory" if name != "c" else "ours")
        for name in ("a", "b"):
            before = [one for earlier in steps[:place] for one in earlier.loaded[name]]
            sheet.boxes(boxes(name, before), "memory", fill_opacity=0.25)
            sheet.boxes(boxes(name, step.loaded[name]), "memory", "paper", 0.6)
            sheet.path("".join(crossed(box) for box in boxes(name, step.masked[name])), "none", "masked", 0.8)
        sheet.boxes(boxes("c", tile), "ours", "paper", 0.6, fill_opacity=round((place + 1) / len(steps), 2))
        names(sheet, corners, cell, place)
        ks = [column for _, column in step.loaded["a"]]
        sheet.text(left, tall + 20, f"k = {min(ks)} to {max(ks)}", "memory")
        sheet.text(left, tall + 38, f"sum: {step.total}" if not size.wide else f"first sum so far: {step.total}", "ours")
    return sheet


def names(sheet: Sheet, corners: dict[str, tuple[float, float]], cell: float, place: int) -> None:
    """The matrices' names, beside the first of the drawings."""
    if place == 0:
        sheet.code(corners["a"][0], corners["a"][1] - 6, "a", "memory")
        sheet.code(corners["b"][0] - 10, corners["b"][1] + 11, "b", "memory")
        sheet.code(corners["c"][0] - 10, corners["c"][1] + 11, "c", "ours")


def crossed(box: Box) -> str:
    x, y, width, height = box
    return f"M{x:.5g} {y:.5g}h{width:.5g}v{height:.5g}h{-width:.5g}zM{x:.5g} {y + height:.5g}l{width:.5g} {-height:.5g}"


PICTURES = {"product_walk": (product_walk, ("traces/matmul_ladder/tiles",))}
