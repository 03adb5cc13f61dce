"""In which order a compiled loop around a product asks for tiles, waits for them and multiplies: order, and no durations.

    ordered(ttgir, 6)  ->  for each of six steps along K its Step: when its tiles are ordered and have arrived for sure, when
                           its product begins and has ended for sure, and in which of the buffers it lies

A turn is one operation of the text that counts: copies of a step together, a wait, a product, a wait for products.
"""

import re
from typing import NamedTuple

from scripts.layouts.bits import LayoutError

OPERATION = re.compile(
    r"\b(tt\.load|ttg\.local_alloc(?= %)|ttg\.async_copy_global_to_local|ttg\.async_commit_group|ttg\.async_wait|tt\.dot"
    r"|ttng\.warp_group_dot_wait|ttng\.warp_group_dot)\b"
)


class Step(NamedTuple):
    """The turns of one step, and its buffer; of plain loads the tiles go into the only one."""

    asked: int
    there: int
    begins: int
    ends: int
    buffer: int


class Walk:
    """What the operations so far have ordered and waited for."""

    def __init__(self, steps: int):
        self.steps, self.turn, self.last = steps, 0, ""
        self.asked: dict[int, int] = {}
        self.there: dict[int, int] = {}
        self.begins: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.copies = 0
        self.groups: list[int] = []  # the step that each committed group of copies is of

    def take(self, operation: str, line: str) -> None:
        if operation == "ttg.async_commit_group":
            self.groups.append((self.copies - 1) // 2)
            return
        together = operation == self.last and operation in ("ttg.async_copy_global_to_local", "tt.load")
        self.turn += not together
        self.last = operation
        if operation == "ttg.async_copy_global_to_local":
            self.asked.setdefault(self.copies // 2, self.turn)
            self.copies += 1
            self.last = operation if self.copies % 2 else ""
        elif operation == "tt.load":
            self.asked.setdefault(len(self.begins), self.turn)
        elif operation == "ttg.local_alloc":
            self.there[len(self.begins)] = self.turn
        elif operation == "ttg.async_wait":
            self.arrived(len(self.groups) - number(line, "num"))
        elif operation in ("tt.dot", "ttng.warp_group_dot"):
            self.begins[len(self.begins)] = self.turn
            if operation == "tt.dot":
                self.ends[len(self.begins) - 1] = self.turn
        else:
            for step in range(len(self.begins) - number(line, "pendings")):
                self.ends.setdefault(step, self.turn)

    def arrived(self, groups: int) -> None:
        """The first so many groups are there; a step is, once both of its tiles are."""
        for step in set(self.groups[:groups]):
            if self.groups[:groups].count(step) == 2:
                self.there.setdefault(step, self.turn)


def number(line: str, name: str) -> int:
    found = re.search(rf"\b{name} = (\d+)", line)
    if not found:
        raise LayoutError(f"the text has no {name} in {line.strip()[:60]}")
    return int(found[1])


def buffers(ttgir: str) -> int:
    """How many pairs of tiles have a place in shared memory."""
    rings = re.findall(r"ttg\.local_alloc : \(\) -> !ttg\.memdesc<(\d+)x\d+x\d+x", ttgir)
    return int(rings[0]) if rings else 1


def ordered(ttgir: str, steps: int) -> list[Step]:
    """The steps of a loop that multiplies two tiles in each round."""
    before, _, rest = ttgir.partition("scf.for")
    body, loops, after = rest.partition("scf.yield")
    if not loops or "scf.for" in body or len(re.findall(r"warp_group_dot %|tt\.dot %", body)) != 1:
        raise LayoutError("the text has not one loop with one product")
    walk = Walk(steps)
    for part in (before, *[body] * steps, after):
        for line in part.splitlines():
            if found := OPERATION.search(line):
                walk.take(found[1], line)
    ring = buffers(ttgir)
    return [Step(walk.asked[i], walk.there[i], walk.begins[i], walk.ends[i], i % ring) for i in range(steps)]
