"""One shot and two: which rank takes what part of a tensor from which, for four ranks, as a program counted it."""

from functools import partial

from scripts.drawing.data import Record
from scripts.drawing.pictures.sheet import Picture, Sheet
from scripts.drawing.style import Variant

Move = tuple[int, int, float]
PANEL = 330  # wide
LEVEL = 92  # from a row of ranks to the next
BOX, HIGH = 52, 26  # a rank's tensor
HEAD = 62


def shots(record: Record) -> Picture:
    one, two = (list(map(tuple, record["figures"][name])) for name in ("one_shot", "two_shot"))
    loads, stores = two[: len(two) // 2], two[len(two) // 2 :]
    world = 1 + max(to for _, to, _ in one)
    totals = [sum(part for _, to, part in moves if to == 0) for moves in (one, two)]
    caption = (
        f"An all-reduce over {world} ranks, from top to bottom; a line is a part of the tensor that crosses a link. By one shot "
        f"every rank loads all of every other, {totals[0]:g} tensors. By two shots it loads and adds one share, and stores the "
        f"sum of that share to every other: {totals[1]:g} tensors arrive."
    )
    alt = (
        f"Left: {world} ranks above and {world} below, each below joined to every other above, {len(one)} thick lines. Right: "
        f"three rows. Each rank of the middle row loads one share from each other, {len(loads)} thin lines, and stores its sum "
        f"to each other, {len(stores)} thin lines."
    )
    steps = [("one shot, load", one), ("two shots, load", loads), ("two shots, store", stores)]
    rows = [[step, begin, end, part] for step, moves in steps for begin, end, part in moves]
    columns = ["step", "from rank", "to rank", "part of the tensor"]
    title = "An all-reduce of one shot, and of two."
    return Picture(title, caption, alt, columns, rows, partial(paint, world, one, loads, stores))


def paint(world: int, one: list[Move], loads: list[Move], stores: list[Move], variant: Variant) -> Sheet:
    high = [HEAD + LEVEL + HIGH + 30, HEAD + 2 * LEVEL + HIGH + 30]
    sheet = Sheet(variant, high[1] if variant.wide else sum(high) + 12)
    panel(sheet, 4, 0, world, "One shot", [(one, "adds all of them")])
    x, y = (variant.width - PANEL - 4, 0) if variant.wide else (4, high[0] + 12)
    panel(sheet, x, y, world, "Two shots", [(loads, "adds one share"), (stores, "has all shares")])
    return sheet


def panel(sheet: Sheet, x: float, y: float, world: int, words: str, steps: list[tuple[list[Move], str]]) -> None:
    """Rows of ranks, one for the beginning and one for what each step leaves, and the moves between them."""
    sheet.text(x, y + 14, words, font_weight="bold")
    sheet.text(x, y + 33, "each has a tensor", "muted", font_size=12.5)
    gap = (PANEL - BOX) / (world - 1)
    for level, (moves, says) in enumerate(steps, 1):
        top = y + HEAD - 18 + LEVEL * (level - 1) + HIGH
        for begin, end, part in moves:
            ends = x + gap * begin + BOX / 2, top + 2, x + gap * end + BOX / 2, top + LEVEL - HIGH - 2
            sheet.path("M{:g} {:g}L{:g} {:g}".format(*ends), "none", "ours", 0.6 + 1.6 * part, stroke_opacity=0.75)
        if level == len(steps):
            sheet.text(x, top + LEVEL + 17, f"each {says}", "muted", font_size=12.5)
    for level in range(len(steps) + 1):
        top = y + HEAD - 18 + LEVEL * level
        for rank in range(world):
            box = (x + gap * rank, top, float(BOX), float(HIGH))
            sheet.boxes([box], "paper")
            sheet.boxes([box], "chip" if level else "memory", "chip" if level else "memory", 1.2, fill_opacity=0.16)
            sheet.text(x + gap * rank + BOX / 2, top + 17.5, f"rank {rank}", "ink", "middle", font_size=12)


PICTURES = {"shots": (shots, ("several/traffic",))}
