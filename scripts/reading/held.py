"""Who holds which element in one compiled text, and what bank conflicts make of its accesses to shared memory."""

import re
from functools import cache
from math import prod
from typing import Any

from scripts.layouts import Distributed, LayoutError, Shared, accesses, layout_of, parse, passes
from scripts.layouts.bits import Basis, elements

TYPED = re.compile(r"(?:tensor|memdesc|(?<=-> ))<((?:\d+x)+)(!?[\w.]+(?:<[\w:, ]+>)?), (?=#)")
BITS = {"f64": 64, "i64": 64, "f32": 32, "i32": 32, "f16": 16, "bf16": 16, "i16": 16, "i8": 8, "i1": 8}
LARGEST = 2**16  # elements of a tensor that is looked into


def held(ttgir: str) -> dict[str, list[dict[str, Any]]]:
    """The layouts of a text, each with the shape of its largest tensor, and the accesses to shared memory."""
    named = parse(ttgir)
    shapes: dict[str, dict[tuple[int, ...], str]] = {}
    for found in TYPED.finditer(ttgir):
        name = written(ttgir[found.end() :])
        shape = tuple(int(side) for side in found[1].rstrip("x").split("x"))
        shapes.setdefault(name, {}).setdefault(shape, found[2])
    layouts = []
    for name, by_shape in shapes.items():
        try:
            layout = layout_of(name, named)
        except LayoutError:
            continue
        rank = rank_of(layout, by_shape)
        if fitting := [shape for shape in by_shape if rank in (0, len(shape))]:
            shape = max(fitting, key=prod)
            if told := description(layout, shape):
                layouts.append({"name": name, "shape": "x".join(map(str, shape)), "dtype": by_shape[shape]} | told)
    return {"layouts": layouts, "shared": moves(ttgir)}


def rank_of(layout: Any, shapes: Any) -> int:
    """How many axes a layout of shared memory has; a ring of buffers counts as one more in the text."""
    return min(map(len, shapes)) if isinstance(layout, Shared) else 0


def written(text: str) -> str:
    """The layout that a text begins with, as it is written: a name, or `#ttg.kind<{...}>`."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "<") - (sign == ">" and text[at - 1] != "-")
        if depth < 0 or depth == 0 and sign == ",":
            return text[:at].strip()
    raise LayoutError("the text has no end")


def description(layout: Any, shape: tuple[int, ...]) -> dict[str, Any] | None:
    """The steps of each bit: of register, lane and warp, or of the place in shared memory."""
    try:
        if isinstance(layout, Distributed):
            return {"bases": {name: spelled(steps) for name, steps in layout.bases(shape).items()}}
        return {"bases": {"offset": spelled(steps)}} if (steps := offset_steps(layout, shape)) else None
    except LayoutError:
        return None


def spelled(steps: list[Basis]) -> str:
    """Steps as text: axes with commas between, steps with blanks."""
    return " ".join(",".join(map(str, step)) for step in steps)


@cache
def offset_steps(layout: Shared, shape: tuple[int, ...]) -> list[Basis] | None:
    """For each bit of a place in shared memory the element's step; nothing where places are not counted so (gaps)."""
    if prod(shape) > LARGEST:
        return None
    places = layout.offsets(shape)
    at = dict(zip(places, elements(shape), strict=True))
    bits = prod(shape).bit_length() - 1
    if any(1 << bit not in at for bit in range(bits)) or at.get(0) != tuple(0 for _ in shape):
        return None
    return [at[1 << bit] for bit in range(bits)]


def moves(ttgir: str) -> list[dict[str, Any]]:
    """Each access of a warp to shared memory: bytes a lane, passes over the banks, and how many it needs."""
    found = []
    try:
        every = accesses(ttgir)
    except LayoutError:
        return []
    for access in every:
        bits = BITS.get(access.dtype)
        if access.registers is None or access.shared is None or not bits or prod(access.shape) > LARGEST:
            continue
        shape = access.shape if access.operation == "ttg.async_copy_global_to_local" else access.shape[-2:]
        try:
            counted = conflicts(access.registers, access.shared, shape, bits)
        except (LayoutError, KeyError):
            continue
        told: dict[str, Any] = {"operation": access.operation, "shape": "x".join(map(str, shape)), "dtype": access.dtype}
        told |= {"lane_bytes": counted.lane_bytes, "taken": counted.taken, "needed": counted.needed}
        if told not in found:
            found.append(told)
    return found


conflicts = cache(passes)
