"""Two groups of warps of one program of attention, by the clock that they wrote down: in turns at the tensor cores, and not."""

from collections.abc import Sequence
from typing import NamedTuple

from scripts.drawing.data import Record
from scripts.drawing.pictures.sheet import Box, Picture, Sheet
from scripts.drawing.style import Variant

LANE, HEAD, PANEL = 24.0, 30.0, 118.0
WAYS = {"turns": "in turns", "free": "without turns"}
FIRST = 1  # the tile from which on is drawn; before it a program is still starting
CYCLES = 500  # of the scale
TILES = {True: 5, False: 3}  # on a wide drawing and on a narrow one


class Tile(NamedTuple):
    """When a group was at each step of one tile, in cycles: first of the products, then of the softmax."""

    group: int
    tile: int
    turn: int
    issued: int
    scores: int
    weights: int
    done: int


def attention_turns(record: Record) -> Picture:
    clocks = record["figures"]["clocks"]
    walks = {way: [Tile(g, i, *tile) for g, group in enumerate(clocks[way]) for i, tile in enumerate(group, 1)] for way in WAYS}
    beside = {way: round(100 * share_beside(tiles)) for way, tiles in walks.items()}
    title = "Two groups of warps go through tile after tile, taking turns at the tensor cores, and without turns."
    caption = (
        f"{title} By the clock of their multiprocessor, an {record['environment']['gpu']}'s. While one group is at its softmax, "
        f"the other is at its products for {beside['turns']}% of the time in turns, and for {beside['free']}% without. "
        "The number is the tile's. Weights meet their values behind the next softmax, which is not drawn."
    )
    spans = {way: max(tile.done for tile in tiles) for way, tiles in walks.items()}
    alt = (
        "Two pairs of lanes. In each lane a group of warps waits for its products, then computes its softmax, tile after tile. "
        f"All tiles take {spans['turns']:,} cycles in turns, and {spans['free']:,} without."
    )
    rows = [[WAYS[way], *tile] for way, tiles in walks.items() for tile in tiles]
    columns = ["groups go", "group", "tile", "may begin", "products issued", "scores there", "weights there", "products done"]
    return Picture(title, caption, alt, columns, rows, lambda size: painted(size, walks))


def share_beside(tiles: Sequence[Tile]) -> float:
    """Of the time in which either group is at its softmax, the part in which the other's scores are being computed."""
    softmax = [(tile.group, tile.scores, tile.weights) for tile in tiles]
    products = [(tile.group, tile.turn, tile.scores) for tile in tiles]
    both = sum(
        max(0, min(end, to) - max(begin, since))
        for group, begin, end in softmax
        for other, since, to in products
        if other != group
    )
    return both / max(1, sum(end - begin for _, begin, end in softmax))


def painted(size: Variant, walks: dict[str, list[Tile]]) -> Sheet:
    sheet = Sheet(size, len(walks) * PANEL + 26)
    shown = {
        way: [tile for tile in tiles if FIRST < tile.tile <= FIRST + TILES[size.wide]] for way, tiles in walks.items()
    }
    starts = {way: min(tile.turn for tile in tiles) for way, tiles in shown.items()}
    longest = max(max(tile.weights for tile in tiles) - starts[way] for way, tiles in shown.items())
    left = 58.0
    cycle = (size.width - left - 4) / longest
    for place, (way, tiles) in enumerate(shown.items()):
        panel(sheet, place * PANEL, way, tiles, starts[way], left, cycle)
    key(sheet, len(walks) * PANEL + 12, cycle)
    return sheet


def panel(sheet: Sheet, top: float, way: str, tiles: list[Tile], start: int, left: float, cycle: float) -> None:
    """One pair of lanes; both pairs have one scale."""
    sheet.text(0, top + 16, WAYS[way].capitalize(), font_weight="bold")

    def bar(tile: Tile, since: int, to: int) -> Box:
        return left + (since - start) * cycle, top + HEAD + tile.group * (LANE + 8), max(1.0, (to - since) * cycle), LANE

    end = left + (max(tile.weights for tile in tiles) - start) * cycle
    for group in sorted({tile.group for tile in tiles}):
        middle = top + HEAD + group * (LANE + 8) + LANE / 2
        sheet.text(0, middle + 4, f"group {group}", "muted")
        sheet.path(f"M{left:g} {middle:g}H{end:.6g}", "none", "rule")
    sheet.boxes([bar(tile, tile.turn, tile.scores) for tile in tiles], "ours", "paper", 1)
    sheet.boxes([bar(tile, tile.scores, tile.weights) for tile in tiles], "chip", "paper", 1)
    for tile in tiles:
        for since, to in ((tile.turn, tile.scores), (tile.scores, tile.weights)):
            x, y, wide, tall = bar(tile, since, to)
            if wide > 16:
                sheet.code(x + wide / 2, y + tall / 2 + 4, str(tile.tile), "paper", "middle")


def key(sheet: Sheet, y: float, cycle: float) -> None:
    """What the colors mean, and how long so many cycles are."""
    wide = sheet.variant.wide
    items = [("products, until its scores are there" if wide else "products", "ours"), ("softmax", "chip")]
    for x, (words, fill) in zip((2, 290 if wide else 104), items, strict=True):
        sheet.boxes([(x, y - 10, 22, 11)], fill, fill, 1.4)
        sheet.text(x + 29, y, words)
    start = sheet.width - 4 - CYCLES * cycle
    sheet.path(f"M{start:.6g} {y - 9:g}v8M{start:.6g} {y - 5:g}h{CYCLES * cycle:.6g}m0 -4v8", "none", "muted", 1.2)
    sheet.text(start - 7, y, f"{CYCLES} cycles", "muted", "end")


PICTURES = {"attention_turns": (attention_turns, ("gpu/attention_gluon/timeline",))}
