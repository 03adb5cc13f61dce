"""The picture of *Why write a kernel*: what each kernel of a softmax carries between memory and chip, by the hardware's count."""

from functools import partial
from typing import Any, NamedTuple

from scripts.drawing.data import Chart, Record
from scripts.drawing.pictures.sheet import Sheet
from scripts.drawing.style import Variant
from scripts.pages.formats import ms

# The operations of the unfused softmax in order, with the matrix that each reads and what it writes.
STEPS = (
    ("max", "x", "max"),
    ("subtract", "x", "x − max"),
    ("exp", "x − max", "exp"),
    ("sum", "exp", "sum"),
    ("divide", "exp", "y"),
)
WIDEST = 18  # pixels: an arrow of a whole matrix


class Trip(NamedTuple):
    """One kernel: what it computes, what it reads and writes, and the bytes counted of either."""

    does: tuple[str, ...]
    source: str
    target: str
    read: int
    written: int


def softmax_passes(record: Record) -> Chart:
    matrix = record["extra"]["matrix_bytes"]
    rows = {name: [row for row in record["counters"] if row["implementation"] == name] for name in ("unfused", "blockwise")}
    times = {name: sum(row["ms"] for row in found) for name, found in rows.items()}
    five = [
        Trip((does,), source, target, row["dram_read_bytes"], row["dram_write_bytes"])
        for (does, source, target), row in zip(STEPS, rows["unfused"], strict=False)
    ]
    (one,) = rows["blockwise"]
    fused = Trip(tuple(step[0] for step in STEPS), "x", "y", one["dram_read_bytes"], one["dram_write_bytes"])
    said = [
        f"{moved(sum(trip.read + trip.written for trip in trips))} in {ms(1e3 * times[name])}"
        for name, trips in (("unfused", five), ("blockwise", [fused]))
    ]
    alt = (
        "The chip and the GPU's memory, and arrows between them as wide as the bytes that were counted. "
        f"Unfused, {len(five)} kernels: "
        + "; ".join(f"{trip.does[0]} reads {moved(trip.read)} and writes {moved(trip.written)}" for trip in five)
        + f"; together {said[0]}. Fused, one kernel does all of it on the chip: it reads {moved(fused.read)} and writes "
        f"{moved(fused.written)}; {said[1]}. The matrix takes up {moved(matrix)}."
    )
    table: list[list[Any]] = [
        [name, ", ".join(trip.does), trip.source, trip.read, trip.target, trip.written]
        for name, trips in (("five kernels", five), ("one kernel", [fused]))
        for trip in trips
    ]
    title = (
        "What softmax carries between memory and chip, in five kernels and in one. The width of an arrow shows how many bytes "
        "the hardware counted: filled arrows are reads, hollow ones are writes."
    )
    columns = ["softmax", "kernel", "reads", "read (bytes)", "writes", "written (bytes)"]
    return Chart(title, alt, columns, table, partial(paint, five, fused, said, matrix))


def moved(count: int) -> str:
    """Bytes in three digits."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            value = count / unit
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}\u00a0{name}"
    return f"{count}\u00a0B"


def paint(five: list[Trip], fused: Trip, said: list[str], matrix: int, variant: Variant) -> Sheet:
    return (across if variant.wide else down)(five, fused, said, matrix, variant)


def thick(count: int, matrix: int) -> float:
    return max(1.2, WIDEST * count / matrix)


def block_arrow(sheet: Sheet, start: tuple[float, float], length: float, wide: float, turn: str, solid: bool) -> None:
    """An arrow as wide as its bytes; read ones are filled, written ones are hollow."""
    x, y = start
    half, head = wide / 2, min(12.0, 4 + wide * 0.6)
    sign = -1 if turn in ("up", "left") else 1
    spread = half + (5 if wide > 4 else 3)
    neck = length - head
    points = [(-half, 0), (-half, neck), (-spread, neck), (0, length), (spread, neck), (half, neck), (half, 0)]
    placed = [(x + side, y + sign * along) if turn in ("up", "down") else (x + sign * along, y + side) for side, along in points]
    path = "M" + "L".join(f"{px:.5g} {py:.5g}" for px, py in placed) + "z"
    sheet.path(path, "memory" if solid else "paper", "memory", 1.2)


def tensor(sheet: Sheet, x: float, y: float, count: int, matrix: int) -> None:
    """A matrix, or the one column of it that is a number a row, centered at x."""
    wide = 30 if count > matrix / 2 else 3
    sheet.boxes([(x - wide / 2, y, wide, 30)], "memory", "memory", 1, fill_opacity=0.3)


def across(five: list[Trip], fused: Trip, said: list[str], matrix: int, variant: Variant) -> Sheet:
    sheet = Sheet(variant, 330)
    sheet.text(0, 14, f"{len(five)} kernels", font_weight="bold")
    sheet.text(70, 14, "unfused", "muted")
    sheet.text(578, 14, "1 kernel", font_weight="bold")
    sheet.text(640, 14, "fused", "muted")
    sheet.boxes([(1, 26, 554, 104), (579, 26, 140, 104)], "chip", "chip", 1.4, fill_opacity=0.06)
    sheet.text(9, 44, "the chip", "chip", font_weight="bold")
    sheet.boxes([(1, 206, 554, 96), (579, 206, 140, 96)], "memory", "memory", 1.4, fill_opacity=0.06)
    sheet.text(9, 295, "memory (HBM)", "memory", font_weight="bold")
    for place, trip in enumerate([*five, fused]):
        left = 111 * place if place < len(five) else 578
        wide = 111 if place < len(five) else 142
        up, low = left + wide * 0.27, left + wide * 0.73
        lines = len(trip.does)
        high = 8 + 16 * lines
        sheet.boxes([(left + 8, 122 - high, wide - 16, high)], "paper", "chip", 1.4)
        for turn, does in enumerate(trip.does):
            sheet.text(left + wide / 2, 122 - high + 17 + 16 * turn, does, anchor="middle")
        block_arrow(sheet, (up, 202), 66, thick(trip.read, matrix), "up", True)
        block_arrow(sheet, (low, 136), 66, thick(trip.written, matrix), "down", False)
        for x, name, count in ((up, trip.source, trip.read), (low, trip.target, trip.written)):
            tensor(sheet, x, 212, count, matrix)
            sheet.text(x, 256, name, anchor="middle", font_size=12)
            sheet.text(x, 272, moved(count), "memory", "middle", font_size=12)
    for x, words in ((0, said[0]), (578, said[1])):
        sheet.text(x, 323, words, font_weight="bold")
    return sheet


def down(five: list[Trip], fused: Trip, said: list[str], matrix: int, variant: Variant) -> Sheet:
    step, gap = 62, 52
    heights = [step * len(five), 98]
    sheet = Sheet(variant, 26 + heights[0] + gap + heights[1] + 26)
    y = 26.0
    names = f"{len(five)} kernels", "1 kernel"
    for name, trips, high, words in zip(names, (five, [fused]), heights, said, strict=True):
        sheet.text(0, y - 10, name, font_weight="bold")
        sheet.text(64, y - 10, "unfused" if len(trips) > 1 else "fused", "muted")
        sheet.text(360, y - 10, words, "ink", "end", font_weight="bold")
        sheet.boxes([(1, y, 117, high)], "memory", "memory", 1.4, fill_opacity=0.06)
        sheet.boxes([(258, y, 101, high)], "chip", "chip", 1.4, fill_opacity=0.06)
        each = high / len(trips)
        for place, trip in enumerate(trips):
            middle = y + each * (place + 0.5)
            box = 8 + 16 * len(trip.does)
            sheet.boxes([(266, middle - box / 2, 86, box)], "paper", "chip", 1.4)
            for turn, does in enumerate(trip.does):
                sheet.text(309, middle - box / 2 + 16 + 16 * turn, does, anchor="middle")
            for rise, way, held, count in ((-13, "right", trip.source, trip.read), (13, "left", trip.target, trip.written)):
                start = (122 if way == "right" else 254, middle + rise)
                block_arrow(sheet, start, 132, thick(count, matrix) * 0.8, way, way == "right")
                sheet.text(8, middle + rise + 4, held)
                sheet.text(112, middle + rise + 4, moved(count), "memory", "end", font_size=11.5)
        y += high + gap
    sheet.text(0, sheet.height - 6, "memory (HBM)", "memory", font_weight="bold")
    sheet.text(360, sheet.height - 6, "the chip", "chip", "end", font_weight="bold")
    return sheet


CHARTS = {"softmax_passes": (softmax_passes, ("fused_softmax/traffic",))}
