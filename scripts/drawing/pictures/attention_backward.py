"""Which tiles of the matrix of weights a program walks on the way back, all pairs open or causal, as recorded runs took them."""

from typing import Any, NamedTuple

from scripts.drawing.data import Record
from scripts.drawing.pictures.recorded import events
from scripts.drawing.pictures.sheet import Box, Picture, Sheet
from scripts.drawing.style import Variant

PROGRAM = 1
Tile = tuple[int, int]  # of queries, of keys


class Walk(NamedTuple):
    """A kernel's run: who owns what, the tiles that its programs meet in turn, and how many rows a head has."""

    owner: str
    mask: str
    tiles: list[list[Tile]]
    length: int


def attention_walks(keys: Record, queries: Record, causal_keys: Record, causal_queries: Record) -> Picture:
    walks = [
        walked(record, owner, mask)
        for mask, runs in (("all pairs", (keys, queries)), ("causal", (causal_keys, causal_queries)))
        for owner, record in zip(("keys", "queries"), runs, strict=True)
    ]
    rows = [
        [walk.mask, walk.owner, program, ", ".join(f"{m}/{n}" for m, n in tiles)]
        for walk in walks
        for program, tiles in enumerate(walk.tiles)
    ]
    title = "Which tiles a program of keys walks, and which a program of queries."
    caption = (
        f"{title} Recorded runs: {walks[0].length} queries down, as many keys across, in tiles of four. The numbers are the "
        f"turns of program {PROGRAM}, pale is what the other programs walk, and empty what no program does."
    )
    said = "; ".join(f"{walk.mask}, program of {walk.owner}: {turns(walk)}" for walk in walks)
    alt = f"Four squares of tiles, queries down and keys across. Queries/keys of the tiles that program {PROGRAM} takes: {said}."
    columns = ["pairs", "owner", "program", "tiles, queries/keys"]
    return Picture(title, caption, alt, columns, rows, lambda size: painted(size, walks))


def turns(walk: Walk) -> str:
    return ", ".join(f"{m}/{n}" for m, n in walk.tiles[PROGRAM])


def walked(record: Record, owner: str, mask: str) -> Walk:
    """The tiles from the rows that were loaded: before the loop a program's own, in it those that it meets."""
    length, width = record["tensors"]["q"]["shape"]
    tiles = []
    for program in record["programs"]:
        loads = {name: [row(event, width) for event in events(record, program["id"], "load", name)] for name in ("q", "k")}
        own, met = (loads["k"], loads["q"]) if owner == "keys" else (loads["q"], loads["k"])
        tiles.append([(one, own[0]) if owner == "keys" else (own[0], one) for one in met])
    return Walk(owner, mask, tiles, length)


def row(event: Record, width: int) -> int:
    """The tile of four rows at which a load begins."""
    item = event["lanes"][0]
    run = item[2][0] if isinstance(item[2], list) else item
    return run[1] // width // event["shape"][0]


def painted(size: Variant, walks: list[Walk]) -> Sheet:
    side = len(walks[0].tiles)
    across = 4 if size.wide else 2
    wide = size.width / across
    cell = (wide - (44 if size.wide else 40)) / side
    tall = cell * side + 74
    sheet = Sheet(size, tall * (len(walks) / across))
    for place, walk in enumerate(walks):
        left, top = wide * (place % across) + 26, tall * (place // across) + 56
        taken = walk.tiles[PROGRAM]
        others = {tile for tiles in walk.tiles for tile in tiles} - set(taken)
        never = [(m, n) for m in range(side) for n in range(side) if (m, n) not in others and (m, n) not in taken]

        def boxes(tiles: list[Tile], at: tuple[float, float] = (left, top)) -> list[Box]:
            return [(at[0] + cell * n, at[1] + cell * m, cell, cell) for m, n in tiles]

        sheet.text(left, top - 40, f"Owns {walk.owner}", "ink", font_weight="bold")
        sheet.text(left, top - 22, walk.mask, "muted")
        sheet.boxes(boxes(sorted(others)), "memory", "paper", 1, fill_opacity=0.2)
        sheet.boxes(boxes(never), "none", "masked", 0.8, stroke_opacity=0.5)
        sheet.boxes(boxes(taken), "ours" if walk.owner == "keys" else "chip", "paper", 1)
        for turn, (x, y, *_) in enumerate(boxes(taken), 1):
            sheet.code(x + cell / 2, y + cell / 2 + 4, str(turn), "paper", "middle")
        named(sheet, left, top, cell * side)
    return sheet


def named(sheet: Sheet, left: float, top: float, side: float) -> None:
    """What lies along the sides of a square."""
    sheet.text(left + side / 2, top - 5, "keys", "muted", "middle", font_size=11.5)
    middle = top + side / 2
    more: dict[str, Any] = {"font_size": 11.5, "transform": f"rotate(-90 {left - 6:g} {middle:g})"}
    sheet.text(left - 6, middle, "queries", "muted", "middle", **more)


RUNS = tuple(f"traces/attention_backward/{name}" for name in ("keys", "queries", "causal_keys", "causal_queries"))
PICTURES = {"attention_walks": (attention_walks, RUNS)}
