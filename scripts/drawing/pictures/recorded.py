"""What a recorded run says of a program: its events, the lanes of an access, the numbers of a block. And how a block is drawn."""

from collections.abc import Sequence
from typing import Any

from scripts.drawing.data import Record
from scripts.drawing.pictures.sheet import Sheet, color

CELL = 26  # the height of a row of cells
HATCHED = ("masked", "oob")
SMALL = 11.5


def events(trace: Record, program: Sequence[int], op: str, name: str = "") -> list[Record]:
    """The events of one kind in one program; of a tensor, or of a variable, where a name is given."""
    (found,) = (each for each in trace["programs"] if each["id"] == list(program))
    return [event for event in found["events"] if event["op"] == op and name in ("", event.get("tensor", event.get("name", "")))]


def only(trace: Record, program: Sequence[int], op: str, name: str = "") -> Record:
    (event,) = events(trace, program, op, name)
    return event


def lanes(event: Record) -> list[tuple[str, int]]:
    """Each lane's state, and the offset at which it points, in a block of one dimension."""
    return [(state, first + i * step) for state, first, count, step in event["lanes"] for i in range(count)]


def numbers(event: Record) -> list[int]:
    return [first + i * step for first, count, step in event["runs"] for i in range(count)]


def values(event: Record) -> list[str]:
    return event["values"].split()


def scalar(event: Record) -> float:
    return float(event["values"])


def written(value: str) -> str:
    """A recorded number as the page writes it."""
    return value.replace("-", "−")


def grounded(sheet: Sheet, x: float, y: float, words: str, fill: str = "ink", anchor: str = "start", code: bool = False) -> None:
    """Words on ground of their own, which hides the lines behind them."""
    ground: dict[str, Any] = {"paint_order": "stroke", "stroke": color("paper"), "stroke_width": 9, "font_size": SMALL}
    (sheet.code if code else sheet.text)(x, y, words, fill, anchor, **ground)


def cells(sheet: Sheet, box: tuple[float, float, float], texts: Sequence[str], looks: Sequence[str]) -> None:
    """A row of cells from (x, y), each so wide, with a text and a look: memory, chip, masked, oob, or none."""
    x, y, wide = box
    for look in dict.fromkeys(looks):
        boxes = [(x + wide * place, y, wide, float(CELL)) for place, each in enumerate(looks) if each == look]
        if look in HATCHED:
            steps = range(0, int(wide) - 7, 6)
            hatches = "".join(f"M{left + step:g} {top + CELL:g}l8 {-CELL}" for left, top, *_ in boxes for step in steps)
            sheet.path(hatches, "none", look, 0.8, stroke_opacity=0.4)
            sheet.boxes(boxes, "none", look)
        else:
            sheet.boxes(boxes, look, "chip" if look == "none" else look, 1, **({} if look == "none" else {"fill_opacity": 0.16}))
    for place, (text, look) in enumerate(zip(texts, looks, strict=True)):
        middle, line = x + wide * (place + 0.5), y + CELL / 2 + 4
        if look in HATCHED and text:
            grounded(sheet, middle, line, text, "oob" if look == "oob" else "ink", "middle", code=True)
        elif text:
            sheet.code(middle, line, text, "ink", "middle", font_size=SMALL)
