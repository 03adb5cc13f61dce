"""Programs that queue at `dweight`, one atomic addition after another, and programs that keep partial sums: two recorded runs."""

from functools import partial
from typing import NamedTuple

from scripts.drawing.data import Record, listed
from scripts.drawing.pictures.recorded import SMALL, events, lanes, only
from scripts.drawing.pictures.sheet import Picture, Sheet
from scripts.drawing.style import Variant

STEP = 24  # from a row of additions to the next
ROW = 18  # how high one is
PANEL = 348
HEAD, FOOT = 48, 80  # above the additions and below them


class Share(NamedTuple):
    """The rows that one program takes, and the numbers of `dweight` that it touches in memory."""

    program: int
    rows: list[int]
    touched: list[int]


def shares(trace: Record, op: str) -> list[Share]:
    """What each program takes and where it puts it; its rows are those of `dx`, which it stores."""
    found = []
    for (program,) in (each["id"] for each in trace["programs"]):
        touched = [offset for state, offset in lanes(only(trace, (program,), op, "dweight")) if state == "on"]
        stores = events(trace, (program,), "store", "dx")
        found.append(Share(program, [lanes(store)[0][1] // trace["tensors"]["dx"]["shape"][1] for store in stores], touched))
    return found


def queues(found: list[Share]) -> dict[int, list[int]]:
    """For each number in memory, the programs that touch it."""
    return {offset: [share.program for share in found if offset in share.touched] for share in found for offset in share.touched}


def gradient_sums(atomic: Record, staying: Record) -> Picture:
    queued, kept = shares(atomic, "atomic_add"), shares(staying, "store")
    longest = max(map(len, queues(queued).values()))
    additions = sum(len(share.touched) for share in queued)
    stores = sum(len(share.touched) for share in kept)
    caption = (
        f"The gradient of a weight of {len(queues(queued))} numbers over {len(queued)} rows, in two recorded runs. Every plus "
        "is an addition. With atomics they happen in memory, where a number takes one at a time. With partial sums they "
        "happen in registers, which no other program touches, and memory gets one finished row from each program."
    )
    alt = (
        f"With atomic additions {len(queued)} programs take a row each and add it to the same row of dweight in memory: "
        f"{additions} additions, {longest} to every number. With partial sums {len(kept)} programs stay for "
        f"{listed([f'rows {listed([str(row) for row in share.rows])}' for share in kept])}, add them in registers, and each "
        f"stores a row of its own: {stores} stores, one to every number. A second launch adds the {len(kept)} rows."
    )
    rows = [
        [way, share.program, ", ".join(map(str, share.rows)), f"{share.touched[0]} to {share.touched[-1]}"]
        for way, found in (("atomic additions", queued), ("partial sums", kept))
        for share in found
    ]
    columns = ["way", "program", "rows", "numbers in memory"]
    title = "Programs that queue at dweight, and programs that keep partial sums."
    return Picture(title, caption, alt, columns, rows, partial(paint, queued, kept))


def paint(queued: list[Share], kept: list[Share], variant: Variant) -> Sheet:
    deep = [len(queued), max(len(share.rows) for share in kept) + 1]
    high = [HEAD + STEP * (max(deep) if variant.wide else each) + FOOT for each in deep]
    sheet = Sheet(variant, high[0] if variant.wide else sum(high) + 16)
    queue(sheet, 4, 0, high[0] - FOOT, queued)
    x, y = (variant.width - PANEL - 4, 0) if variant.wide else (4, high[0] + 16)
    partials(sheet, x, y, y + high[1] - FOOT, kept)
    return sheet


def heading(sheet: Sheet, x: float, y: float, words: str, more: str) -> None:
    sheet.text(x, y + 14, words, font_weight="bold")
    sheet.text(x, y + 33, more, "muted", font_size=12.5)


def line(sheet: Sheet, x: float, y: float, wide: float, count: int, look: str) -> None:
    sheet.boxes([(x + wide * place, y, wide, float(ROW)) for place in range(count)], look, look, 1, fill_opacity=0.16)


def plus(sheet: Sheet, x: float, y: float, wide: float, count: int) -> None:
    middles = [x + wide * (place + 0.5) for place in range(count)]
    sheet.path("".join(f"M{middle - 3.5:g} {y + ROW / 2:g}h7m-3.5 -3.5v7" for middle in middles), "none", "ink", 1.3)


def queue(sheet: Sheet, x: float, y: float, memory: float, found: list[Share]) -> None:
    """Every program's row stands above the one row in memory; the lowest is being added."""
    count, wide, left = len(queues(found)), 32.0, x + 106
    heading(sheet, x, y, "Atomic additions", f"{len(found)} programs, a row each")
    for place, share in enumerate(reversed(found)):
        top = memory - STEP * (len(found) - place)
        line(sheet, left, top, wide, len(share.touched), "ours")
        plus(sheet, left, top, wide, len(share.touched))
        sheet.text(x, top + 13.5, f"program {share.program}, row {listed([str(row) for row in share.rows])}", font_size=12)
        does, color = ("adds", "ours") if place == len(found) - 1 else ("waits", "muted")
        sheet.text(left + wide * count + 8, top + 13.5, does, color, font_size=12)
    for place in range(count):
        sheet.arrow(left + wide * (place + 0.5), memory - 4, left + wide * (place + 0.5), memory + 18, "ours", 1.4)
    line(sheet, left, memory + 20, wide, count, "memory")
    sheet.code(x, memory + 33, "dweight", "memory", font_size=12)
    longest = max(map(len, queues(found).values()))
    sheet.text(left, memory + 56, f"{longest} additions to every number,", font_size=12.5)
    sheet.text(left, memory + 73, "one after another, in any order", font_size=12.5)


def partials(sheet: Sheet, x: float, y: float, memory: float, found: list[Share]) -> None:
    """Each program's rows stand above its own sum, and below it the row in memory that nobody else touches."""
    half = PANEL / len(found)
    heading(sheet, x, y, "Partial sums", f"{len(found)} programs, which stay for all the rows")
    for place, share in enumerate(found):
        left, wide, count = x + half * place + 54, 18.0, len(share.touched)
        for turn, row in enumerate(share.rows):
            top = memory - STEP * (len(share.rows) + 1 - turn)
            line(sheet, left, top, wide, count, "chip")
            plus(sheet, left, top, wide, count)
            sheet.text(left - 54, top + 13.5, f"row {row}", font_size=12)
        sheet.boxes([(left, memory - STEP, wide * count, ROW)], "chip", "chip", 1.6, fill_opacity=0.34)
        sheet.text(left - 54, memory - STEP + 13.5, "sum", "chip", font_size=12)
        sheet.text(left + wide * count / 2, memory - STEP + 13.5, f"program {share.program}", "ink", "middle", font_size=SMALL)
        sheet.arrow(left + wide * count / 2, memory - 4, left + wide * count / 2, memory + 18, "memory", 1.4)
        line(sheet, left, memory + 20, wide, count, "memory")
        sheet.code(left - 54, memory + 33, "dweight", "memory", font_size=SMALL)
    most = max(map(len, queues(found).values()))
    words = f"{most} store to every number: nobody waits;" if most == 1 else f"{most} stores to a number;"
    sheet.text(x + 54, memory + 56, words, font_size=12.5)
    sheet.text(x + 54, memory + 73, f"a second launch adds the {len(found)} rows", font_size=12.5)


PICTURES = {"gradient_sums": (gradient_sums, ("traces/norms/atomic", "traces/norms/staying"))}
