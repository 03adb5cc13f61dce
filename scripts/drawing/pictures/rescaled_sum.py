"""The rescaling of the online softmax: two recorded rows, in which the running maximum rises and stays."""

from functools import partial
from math import exp
from typing import NamedTuple

from scripts.drawing.data import Record
from scripts.drawing.pictures.recorded import SMALL, cells, events, lanes, scalar, values, written
from scripts.drawing.pictures.sheet import Picture, Sheet
from scripts.drawing.style import Variant

PANEL, HIGH = 348, 238
UNIT = 58  # pixels of a sum of one
BAR = 54


class Block(NamedTuple):
    """What one block of a row brought: its numbers, the maximum before it and after, and the sum in its two parts."""

    x: list[str]
    before: float
    m: float
    added: float
    s: float

    @property
    def factor(self) -> float:
        """What the old sum is multiplied by."""
        return exp(self.before - self.m)


def blocks(trace: Record, program: int) -> list[Block]:
    loads = [event for event in events(trace, (program,), "load", "x") if "other" in event]  # the second walk's have none
    maxima = [scalar(event) for event in events(trace, (program,), "set", "m")]
    sums = [scalar(event) for event in events(trace, (program,), "set", "s")]
    added = [scalar(event) for event in events(trace, (program,), "sum")]
    found = []
    for place, load in enumerate(loads):
        x = [written(value) for value, (state, _) in zip(values(load), lanes(load), strict=True) if state == "on"]
        found.append(Block(x, maxima[place], maxima[place + 1], added[place], sums[place + 1]))
    return found


def rescaled_sum(trace: Record) -> Picture:
    rows = [blocks(trace, program) for (program,) in (each["id"] for each in trace["programs"])]
    caption = (
        f"Two rows of {trace['arguments']['n_columns']} numbers, as two programs of a recorded run walked along them, block by "
        "block. A bar is the sum s after a block. Its upper part is what the block itself adds; its lower part is the sum from "
        "before, multiplied by the factor on the arrow, which is exp(old m − new m)."
    )
    alt = " ".join(f"Row {place}: {told(row)}" for place, row in enumerate(rows))
    columns = ["program", "block", "numbers", "m before", "m", "factor", "added", "s"]
    table = [
        [place, number, ", ".join(b.x), written(f"{b.before:g}"), b.m, round(b.factor, 4), b.added, b.s]
        for place, row in enumerate(rows)
        for number, b in enumerate(row)
    ]
    title = "A running sum that is rescaled whenever a larger number comes."
    return Picture(title, caption, alt, columns, table, partial(paint, rows))


def told(row: list[Block]) -> str:
    steps = [
        f"block {number} brings {', '.join(b.x)}; m = {b.m:g}, the old sum times {b.factor:.3g} plus {b.added:.3g} is {b.s:.3g}"
        for number, b in enumerate(row)
    ]
    return f"{'; '.join(steps)}."


def paint(rows: list[list[Block]], variant: Variant) -> Sheet:
    sheet = Sheet(variant, HIGH if variant.wide else HIGH * len(rows) + 20 * (len(rows) - 1))
    for place, row in enumerate(rows):
        x, y = (4 + place * (variant.width - PANEL - 8), 0) if variant.wide else (4, place * (HIGH + 20))
        panel(sheet, x, y, row)
    return sheet


def heading(row: list[Block]) -> str:
    rises = sum(b.m > b.before for b in row[1:])
    names = {0: "The maximum stays", len(row) - 1: "Every block brings a larger maximum"}
    return names.get(rises, f"The maximum rises {rises} times")


def panel(sheet: Sheet, x: float, y: float, row: list[Block]) -> None:
    sheet.text(x, y + 14, heading(row), font_weight="bold")
    wide, gap = 33, 7
    starts = [x + sum(len(b.x) for b in row[:place]) * wide + gap * place for place in range(len(row))]
    ground = y + HIGH - 14
    for place, (left, b) in enumerate(zip(starts, row, strict=True)):
        cells(sheet, (left, y + 26, wide), b.x, ["memory"] * len(b.x))
        largest = next((lane for lane, text in enumerate(b.x) if text == written(f"{b.m:g}")), None)
        if largest is not None:
            sheet.boxes([(left + wide * largest, y + 26, wide, 26)], "none", "ours", 2.2)
        sheet.code(left, y + 72, f"m = {written(f'{b.m:g}')}", "ours" if largest is not None else "muted", font_size=12.5)
        bar(sheet, left, ground, b)
        if place + 1 < len(row):
            link(sheet, (left, ground - UNIT * b.s), (starts[place + 1], ground), row[place + 1], b.s)
    sheet.path(f"M{x:g} {ground:g}h{PANEL - 8}", "none", "muted", 1)


def bar(sheet: Sheet, left: float, ground: float, b: Block) -> None:
    """The old sum, rescaled, below; what the block adds above it."""
    old = UNIT * (b.s - b.added)
    new = UNIT * b.added
    if old > 0.5:
        sheet.boxes([(left, ground - old, BAR, old)], "chip", "chip", 1, fill_opacity=0.14)
        sheet.code(left + BAR / 2, ground - old / 2 + 4, f"{b.s - b.added:.3g}", "ink", "middle", font_size=SMALL)
    sheet.boxes([(left, ground - old - new, BAR, new)], "chip", "chip", 1, fill_opacity=0.5)
    words, line = (f"{b.added:.3g}", ground - old - new / 2 + 4) if new >= 15 else (f"+ {b.added:.2g}", ground - old + 14)
    sheet.code(left + BAR / 2, line, words, "ink", "middle", font_size=SMALL)
    sheet.code(left, ground - old - new - 7, f"s = {b.s:.3g}", font_size=12.5)


def link(sheet: Sheet, old: tuple[float, float], new: tuple[float, float], b: Block, before: float) -> None:
    """From the top of a bar to where its sum ends in the next one, with the factor between."""
    begin, end = old[0] + BAR, new[0]
    top, low = old[1], new[1] - UNIT * (b.s - b.added)
    sheet.path(f"M{begin:g} {top:g}L{end:g} {low:g}V{new[1]:g}H{begin:g}z", "chip", "none", fill_opacity=0.07)
    sheet.path(f"M{begin:g} {top:g}L{end:g} {low:g}", "none", "chip", 1, stroke_dasharray="4 3")
    sheet.arrow(begin + 6, new[1] - 16, end - 4, new[1] - 16, "ours" if b.m > b.before else "muted", 1.2)
    words = f"× {b.factor:.3g}"
    sheet.code((begin + end) / 2, new[1] - 22, words, "ours" if b.m > b.before else "muted", "middle", font_size=SMALL)


PICTURES = {"rescaled_sum": (rescaled_sum, ("traces/softmax_ladder/online",))}
