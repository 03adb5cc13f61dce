"""Which tiles of the scores a causal kernel visits, and which of them it masks, as the programs of a recorded run did."""

from functools import partial
from typing import NamedTuple

from scripts.drawing.data import Record
from scripts.drawing.pictures.recorded import SMALL, numbers
from scripts.drawing.pictures.sheet import Box, Picture, Sheet
from scripts.drawing.style import Variant


class Visit(NamedTuple):
    """A tile of scores that a program computes: its queries and its keys, and whether it is masked."""

    program: int
    queries: list[int]
    keys: list[int]
    masked: bool

    @property
    def size(self) -> int:
        return len(self.queries) * len(self.keys)

    @property
    def closed(self) -> list[tuple[int, int]]:
        """Scores that are computed and then set to minus infinity, since the key comes after the query."""
        return [(query, key) for query in self.queries for key in self.keys if key > query]


def visits(trace: Record) -> list[Visit]:
    length, found = trace["arguments"]["length"], []
    for program in trace["programs"]:
        rows: list[int] = []
        keys: list[int] = []
        times = 0  # that the scores of this round were set
        for event in [*program["events"], {"op": "loop"}]:
            if event["op"] == "set" and event["name"] == "rows":
                rows = [row for row in numbers(event) if row < length]
            elif event["op"] == "loop":
                if keys:
                    found.append(Visit(program["id"][0], rows, keys, times > 1))
                keys, times = [], 0
            elif event["op"] == "set" and event["name"] == "keys":
                keys = [key for key in numbers(event) if key < length]
            elif event["op"] == "set" and event["name"] == "scores":
                times += 1
    return found


def causal_tiles(trace: Record) -> Picture:
    length, found = trace["arguments"]["length"], visits(trace)
    computed = sum(visit.size for visit in found)
    closed = sum(len(visit.closed) for visit in found)
    caption = (
        f"The scores of {length} queries with {length} keys, as {len(trace['programs'])} programs of a recorded run computed "
        "them. A frame is a tile. Filled scores count; hatched ones, on the diagonal, are computed and masked. The empty squares "
        "are never computed."
    )
    alt = " ".join(
        f"Program {visit.program} takes queries {visit.queries[0]} to {visit.queries[-1]} with keys {visit.keys[0]} to "
        f"{visit.keys[-1]}, {'masked' if visit.masked else 'without a mask'}."
        for visit in found
    )
    columns = ["program", "first query", "last query", "first key", "last key", "masked", "computed", "of them closed"]
    table = [
        [v.program, v.queries[0], v.queries[-1], v.keys[0], v.keys[-1], "yes" if v.masked else "no", v.size, len(v.closed)]
        for v in found
    ]
    title = f"Of {length * length} scores {computed} are computed, and {closed} of them are masked."
    return Picture(title, caption, alt, columns, table, partial(paint, length, found))


def paint(length: int, found: list[Visit], variant: Variant) -> Sheet:
    side = 26 if variant.wide else 29
    left, top = 60, 40
    lines = [
        f"{sum(not visit.masked for visit in found)} tiles without a mask",
        f"{sum(visit.masked for visit in found)} tiles on the diagonal, masked",
        "the rest: not visited",
    ]
    sheet = Sheet(variant, top + side * length + (8 if variant.wide else 12 + 22 * len(lines)))

    def box(query: int, key: int) -> Box:
        return (left + side * key, top + side * query, side, side)

    sheet.boxes([box(query, key) for query in range(length) for key in range(length)], "none", "muted", 0.5, stroke_opacity=0.35)
    for visit in found:
        closed = set(visit.closed)
        open_ = [box(query, key) for query in visit.queries for key in visit.keys if (query, key) not in closed]
        x, y, *_ = box(visit.queries[0], visit.keys[0])
        frame = (x, y, side * len(visit.keys), side * len(visit.queries))
        tile(sheet, frame, open_, [box(*each) for each in sorted(closed)], visit.masked)
    sheet.text(left, top - 24, "keys", "memory")
    for key in range(length):
        sheet.code(left + side * (key + 0.5), top - 7, str(key), "muted", "middle", font_size=SMALL)
    sheet.text(0, top - 7, "queries", "memory")
    for query in range(length):
        sheet.code(left - 8, top + side * (query + 0.5) + 4, str(query), "muted", "end", font_size=SMALL)
    x, y = (left + side * length + 28, top + 20) if variant.wide else (left, top + side * length + 24)
    for place, words in enumerate(lines):
        square, half = (x, y + 22 * place - 11, 14.0, 14.0), (x, y + 22 * place - 11, 7.0, 14.0)
        if place == 0:
            tile(sheet, square, [square], [], False)
        elif place == 1:
            tile(sheet, square, [half], [(x + 7, half[1], 7, 14)], True)
        else:
            sheet.boxes([square], "none", "muted", 0.5, stroke_opacity=0.35)
        sheet.text(x + 22, y + 22 * place, words)
    if variant.wide:
        for place, program in enumerate(sorted({visit.program for visit in found})):
            mine = [visit for visit in found if visit.program == program]
            words = f"Program {program}: queries {mine[0].queries[0]} to {mine[0].queries[-1]}, {len(mine)} tiles of keys"
            sheet.text(x, y + 84 + 20 * place, words)
    return sheet


def tile(sheet: Sheet, frame: Box, counting: list[Box], closed: list[Box], masked: bool) -> None:
    """A tile in its frame: filled where scores count, hatched where they are closed."""
    sheet.boxes(counting, "chip", "paper", 0.6, fill_opacity=0.3 if masked else 0.6)
    for x, y, wide, tall in closed:
        step, lean = (6, 8) if wide > 14 else (3, 4)
        starts = range(1, int(wide) - lean + 1, step)
        sheet.path("".join(f"M{x + start:g} {y + tall:g}l{lean} {-tall:g}" for start in starts), "none", "masked", 0.8)
    sheet.boxes([frame], "none", "masked" if masked else "chip", 1.6)


PICTURES = {"causal_tiles": (causal_tiles, ("traces/attention_tiles/causal",))}
