"""The block masks of four masks, block by block as FlexAttention lists them: whole, in part, or skipped."""

import re
from functools import partial

from scripts.drawing.data import Record
from scripts.drawing.pictures.sheet import Box, Picture, Sheet
from scripts.drawing.style import Variant

GAP = 16
NAMES = {"causal": "Causal", "window": "Sliding window", "documents": "Documents", "prefix": "Prefix"}
TOLD = {"whole": "all scores count", "part": "some count", "empty": "none: skipped"}


def block_masks(record: Record) -> Picture:
    masks = record["figures"]
    side = len(masks["causal"]["rows"])
    title = f"Four masks in blocks: of {side * side} blocks each, most are skipped, or need no mask."
    caption = (
        "Each square is a matrix of scores: a row of blocks for 64 queries, a column for 64 keys, the first at the top left. In "
        "a full block every score counts, and the mask is not even asked. In a hatched one it is asked for every score. An empty "
        "one is not computed."
    )
    counts = [(name, sum(row.count(each) for row in masks[name]["rows"]), each) for name in masks for each in "fp."]
    words = {"f": "full", "p": "in part", ".": "empty"}
    alt = "; ".join(f"{NAMES[name]}: {count} {words[each]}" for name, count, each in counts) + "."
    columns = ["mask", "row of blocks", "full", "in part", "empty", "from the first key to the last"]
    rows = [
        [NAMES[name], place, row.count("f"), row.count("p"), row.count("."), row]
        for name in masks
        for place, row in enumerate(masks[name]["rows"])
    ]
    return Picture(title, caption, alt, columns, rows, partial(paint, masks))


def paint(masks: Record, variant: Variant) -> Sheet:
    across = 4 if variant.wide else 2
    side = (variant.width - GAP * (across - 1) - 2) / across
    high = side + 50
    sheet = Sheet(variant, high * (len(masks) // across) + 26)
    for place, name in enumerate(masks):
        panel(sheet, (1 + place % across * (side + GAP), place // across * high), side, name, masks[name])
    left, foot = 1.0, sheet.height - 18
    for state, words in TOLD.items():
        sheet.boxes([(left, foot, 12, 12)], "panel", "rule", 0.6)
        if state != "empty":
            fill(sheet, [(left, foot, 12, 12)], state)
        if state == "part":
            strokes(sheet, [(left, foot)], 12)
        sheet.text(left + 18, foot + 11, words, font_size=12)
        left += 160 if variant.wide else 113
    return sheet


def panel(sheet: Sheet, corner: tuple[float, float], side: float, name: str, mask: Record) -> None:
    x, y = corner
    sheet.text(x, y + 14, NAMES[name], font_weight="bold")
    cell, count, top = side / len(mask["rows"]), len(mask["rows"]), y + 22
    sheet.boxes([(x, top, side, side)], "panel", "rule", 0.6)
    for letter, state in (("f", "whole"), ("p", "part")):
        runs = [(row, run.start(), run.end()) for row, line in enumerate(mask["rows"]) for run in re.finditer(f"{letter}+", line)]
        fill(sheet, [(x + cell * start, top + cell * row, cell * (end - start), cell) for row, start, end in runs], state)
        if state == "part":
            cells = [(x + cell * column, top + cell * row) for row, start, end in runs for column in range(start, end)]
            strokes(sheet, cells, cell)
    lines = "".join(f"M{x:.5g} {top + cell * n:.5g}h{side:.5g}M{x + cell * n:.5g} {top:.5g}v{side:.5g}" for n in range(1, count))
    sheet.path(lines, "none", "paper", 0.8)
    sheet.text(x, y + side + 38, f"{mask['sparsity']:.0f}% skipped", "muted")


def fill(sheet: Sheet, boxes: list[Box], state: str) -> None:
    sheet.boxes(boxes, "chip", fill_opacity={"whole": 0.75, "part": 0.2}[state])


def strokes(sheet: Sheet, corners: list[tuple[float, float]], cell: float) -> None:
    sheet.path("".join(f"M{x:.5g} {y + cell:.5g}l{cell:.4g} {-cell:.4g}" for x, y in corners), "none", "chip", 1)


PICTURES = {"block_masks": (block_masks, ("flex_attention/block_mask",))}
