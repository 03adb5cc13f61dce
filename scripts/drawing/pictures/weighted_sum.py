"""Attention for one query: a sum of exponentials and a weighted sum of values, rescaled together, in two recorded programs."""

from functools import partial
from math import exp
from typing import NamedTuple

from scripts.drawing.data import Record
from scripts.drawing.pictures.product import lanes
from scripts.drawing.pictures.recorded import SMALL, cells, events, scalar, values, written
from scripts.drawing.pictures.sheet import Picture, Sheet
from scripts.drawing.style import Variant

COLUMN, CELL, BAR, HIGH = 121, 29.25, 31, 268
UNIT = 40  # pixels of a sum of one
SUMS = ("s", "total 0", "total 1")


class Block(NamedTuple):
    """What one block of keys brings: its scores, the maximum before it and after, and of each sum what is added and the whole."""

    scores: list[str]
    before: float
    m: float
    added: list[float]
    sums: list[float]

    @property
    def factor(self) -> float:
        """What all that is old is multiplied by."""
        return exp(self.before - self.m)


def blocks(trace: Record, program: int) -> list[Block]:
    at = (program,)
    there = [len(lanes(event, "on")) // 2 for event in events(trace, at, "load", "k")]  # keys that are not masked
    scores = events(trace, at, "set", "scores")[1::2]  # as they are once they are masked
    maxima = [scalar(event) for event in events(trace, at, "set", "m")]
    s = [scalar(event) for event in events(trace, at, "set", "s")]
    totals = [[float(value) for value in values(event)] for event in events(trace, at, "set", "total")]
    added = events(trace, at, "sum")  # of each block the scores, the weights, and the weighted values
    found = []
    for place, count in enumerate(there):
        brought = [scalar(added[3 * place + 1]), *map(float, values(added[3 * place + 2]))]
        here = values(scores[place])[:count]
        found.append(Block(here, maxima[place], maxima[place + 1], brought, [s[place + 1], *totals[place + 1]]))
    return found


def weighted_sum(trace: Record) -> Picture:
    queries = [blocks(trace, program) for (program,) in (each["id"] for each in trace["programs"])]
    results = [values(events(trace, (place,), "store", "out")[0]) for place in range(len(queries))]
    caption = (
        f"Two queries meet {trace['arguments']['length']} keys, block by block, as two programs of a recorded run met them. The "
        "numbers on top are the scores of a block; a frame marks a new maximum m. The first bar is the sum s of exponentials, "
        "the other two are the weighted sum of values, total, which here has two numbers. In each bar the lower part is what "
        "was there before, times one factor for all three; the upper part is what the block adds."
    )
    said = [f"{told(row)} The result is {' and '.join(results[place])}." for place, row in enumerate(queries)]
    alt = " ".join(f"Query {place}: {words}" for place, words in enumerate(said))
    columns = ["query", "block", "scores", "m", "factor", "sum", "added", "after the block"]
    table = [
        [place, number, ", ".join(map(written, b.scores)), b.m, round(b.factor, 4), name, added, after]
        for place, row in enumerate(queries)
        for number, b in enumerate(row)
        for name, added, after in zip(SUMS, b.added, b.sums, strict=True)
    ]
    title = "One factor rescales the sum of exponentials and the weighted sum of values."
    return Picture(title, caption, alt, columns, table, partial(paint, queries, results))


def told(row: list[Block]) -> str:
    steps = [
        f"block {number} has the scores {', '.join(b.scores)}; m = {b.m:g}, what was there times {b.factor:.3g}, "
        f"s = {b.sums[0]:.3g}, total = {b.sums[1]:.3g} and {b.sums[2]:.3g}"
        for number, b in enumerate(row)
    ]
    return f"{'; '.join(steps)}."


def paint(queries: list[list[Block]], results: list[list[str]], variant: Variant) -> Sheet:
    sheet = Sheet(variant, HIGH if variant.wide else HIGH * len(queries) + 20 * (len(queries) - 1))
    panel = COLUMN * 2 + BAR * 3 + 8
    for place, row in enumerate(queries):
        x, y = (4 + place * (variant.width - panel - 8), 0) if variant.wide else (4, place * (HIGH + 20))
        rises = all(b.m > b.before for b in row)
        heading = "Every block brings a larger score" if rises else "The last block brings no larger one"
        sheet.text(x, y + 14, heading, font_weight="bold")
        for number, b in enumerate(row):
            column(sheet, x + COLUMN * number, y, b)
        out = ", ".join(written(f"{float(value):.3g}") for value in results[place])
        sheet.code(x, y + HIGH - 4, f"out = total / s = {out}", "ours", font_size=12.5)
    return sheet


def column(sheet: Sheet, left: float, y: float, b: Block) -> None:
    """A block's scores, the maximum and the factor, and the three sums after it."""
    rose = b.m > b.before
    cells(sheet, (left, y + 26, CELL), [written(score) for score in b.scores], ["memory"] * len(b.scores))
    if rose:
        largest = [left + CELL * lane for lane, score in enumerate(b.scores) if float(score) == b.m]
        sheet.boxes([(x, y + 26, CELL, 26) for x in largest[:1]], "none", "ours", 2.2)
    sheet.code(left, y + 70, f"m = {written(f'{b.m:g}')}", "ours" if rose else "muted", font_size=12.5)
    sheet.code(left, y + 87, f"old × {b.factor:.3g}", "ours" if rose else "muted", font_size=12.5)
    ground = y + HIGH - 40
    for place, (added, after) in enumerate(zip(b.added, b.sums, strict=True)):
        x, old, new = left + place * (BAR + 4), UNIT * (after - added), UNIT * added
        look = "chip" if place == 0 else "ours"
        if old > 0.5:
            sheet.boxes([(x, ground - old, BAR, old)], look, look, 1, fill_opacity=0.14)
        sheet.boxes([(x, ground - old - new, BAR, new)], look, look, 1, fill_opacity=0.5)
        sheet.code(x + BAR / 2, ground - old - new - 5, f"{after:.3g}", "ink", "middle", font_size=SMALL)
    sheet.code(left + BAR / 2, ground + 15, "s", "chip", "middle", font_size=SMALL)
    sheet.code(left + BAR * 2 + 6, ground + 15, "total", "ours", "middle", font_size=SMALL)
    sheet.path(f"M{left:g} {ground:g}h{3 * BAR + 8:g}", "none", "muted", 1)


PICTURES = {"weighted_sum": (weighted_sum, ("traces/attention/one_query",))}
