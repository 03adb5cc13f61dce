"""What a mask hides: one block of eight lanes over a vector of five numbers, loaded without a mask, and with one."""

from functools import partial
from typing import NamedTuple

from scripts.drawing.data import Record
from scripts.drawing.pictures.recorded import CELL, cells, grounded, lanes, numbers, only, scalar, values, written
from scripts.drawing.pictures.sheet import Picture, Sheet
from scripts.drawing.style import Variant

LOOKS = {"on": "chip", "masked": "masked", "outside": "oob"}
WAYS = ("no mask", "mask and other", "mask alone")


class Load(NamedTuple):
    """One recorded load: of each lane its state, the offset at which it points, and what it holds afterwards."""

    states: list[str]
    offsets: list[int]
    held: list[str]


def load_of(trace: Record) -> Load:
    event = only(trace, (0,), "load", "x")
    states, offsets = zip(*lanes(event), strict=True)
    return Load(list(states), list(offsets), [written(value) for value in values(event)])


def masked_lanes(unmasked: Record, other: Record, no_other: Record) -> Picture:
    loads = dict(zip(WAYS, map(load_of, (unmasked, other, no_other)), strict=True))
    bits = [bool(bit) for bit in numbers(only(other, (0,), "set", "mask"))]
    largest = written(f"{scalar(only(other, (0,), 'max')):g}")
    size = other["tensors"]["x"]["shape"][0]
    off = bits.count(False)
    caption = (
        f"Three recorded loads of a vector of {size} numbers by a program of {len(bits)} lanes. The blue row is memory. Up from "
        "it: a load without a mask, in which every lane fetches what it points at. Down from it: loads with a mask. Where it is "
        "false, nothing is fetched, and the lane holds what other= says, or without it an undefined value."
    )
    alt = (
        f"Memory holds {size} numbers, and behind them other tensors. {len(bits)} lanes point at the {size} numbers and at {off} "
        "places behind the end. " + " ".join(f"{way.capitalize()}: the lanes hold {', '.join(loads[way].held)}." for way in WAYS)
    ) + f" With the mask and other, the maximum is {largest}. A question mark is a number that nothing defines."
    rows = [[way, lane, *each] for way in WAYS for lane, each in enumerate(zip(*loads[way], strict=True))]
    columns = ["load", "lane", "state", "offset", "holds"]
    return Picture("What a mask hides.", caption, alt, columns, rows, partial(paint, loads, bits, size, largest))


def paint(loads: dict[str, Load], bits: list[bool], size: int, largest: str, variant: Variant) -> Sheet:
    left, wide = (236, 60) if variant.wide else (4, 44)
    label = 0 if variant.wide else 26  # on a phone a row's name stands above it
    tops = {"no mask": 22.0 + label}
    for name, above, gap in (
        ("memory", "no mask", 38), ("mask", "memory", 34), ("mask and other", "mask", 34), ("mask alone", "mask and other", 12),
    ):  # fmt: skip
        tops[name] = tops[above] + CELL + gap + label * (0.5 if name == "mask alone" else 1)
    sheet = Sheet(variant, tops["mask alone"] + CELL + 4)
    middles = [left + wide * (lane + 0.5) for lane in range(len(bits))]
    for lane, x in enumerate(middles):
        sheet.text(x, 14, f"lane {lane}" if variant.wide or not lane else f"{lane}", "muted", "middle", font_size=12)
        within = 0 <= loads["no mask"].offsets[lane] < size
        sheet.arrow(x, tops["memory"] - 2, x, tops["no mask"] + CELL + 3, "memory" if within else "oob", 1.4)
        if loads["mask and other"].states[lane] == "on":
            sheet.arrow(x, tops["memory"] + CELL + 2, x, tops["mask"] - 3, "memory", 1.4)
            sheet.arrow(x, tops["mask"] + CELL + 2, x, tops["mask and other"] - 3, "memory", 1.4)
        else:
            sheet.path(f"M{x - 5:g} {tops['memory'] + CELL + 12:g}l10 10m0 -10l-10 10", "none", "masked", 1.8)
    for name, code, note in (
        ("no mask", "tl.load(x_ptr + offsets)", "no mask: it reads on, silently"),
        ("memory", "x in memory", "and what lies behind it"),
        ("mask", "mask = offsets < n", "false: this lane stays away"),
        ("mask and other", "mask=mask, other=-inf", f"tl.max returns {largest}"),
        ("mask alone", "mask=mask", "no other=: undefined"),
    ):
        color = "memory" if name == "memory" else "ink"
        if variant.wide:
            sheet.code(0, tops[name] + 10, code, color, font_size=12.5)
            sheet.text(0, tops[name] + 26, note, "muted", font_size=12.5)
        else:
            y = tops[name] - (7 if name in ("no mask", "mask alone") else 16)
            grounded(sheet, left, y, code, color, code=True)
            if name in WAYS:
                grounded(sheet, left + wide * len(bits), y, note, "muted", "end")
    for way in WAYS:
        cells(sheet, (left, tops[way], wide), loads[way].held, [LOOKS[state] for state in loads[way].states])
    own = [held if offset < size else "" for held, offset in zip(loads["no mask"].held, loads["no mask"].offsets, strict=True)]
    cells(sheet, (left, tops["memory"], wide), own, ["memory" if held else "oob" for held in own])
    behind = left + wide * (size + len(bits)) / 2
    grounded(sheet, behind, tops["memory"] + CELL / 2 + 4, "other tensors", "oob", "middle")
    cells(sheet, (left, tops["mask"], wide), [str(bit) for bit in bits], ["none"] * len(bits))
    return sheet


PICTURES = {"masked_lanes": (masked_lanes, ("traces/masking/unmasked", "traces/masking/other", "traces/masking/no_other"))}
