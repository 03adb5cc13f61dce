"""Shared memory lies in 32 banks of four bytes: words of one bank are served in turn, those of different banks at once."""

from collections.abc import Sequence
from typing import NamedTuple

from scripts.layouts.bits import Owner, Shape, elements
from scripts.layouts.distributed import Distributed
from scripts.layouts.shared import Shared

BANKS, WORD, WIDEST = 32, 4, 16  # bytes of a word, and of the widest access of a lane


class Passes(NamedTuple):
    """What one access of a warp takes: bytes a lane, passes over the banks, and the passes that it takes without conflicts."""

    lane_bytes: int
    taken: int
    needed: int


def of_addresses(addresses: Sequence[int], lane_bytes: int) -> int:
    """The passes for one access of a warp, given each lane's first byte. Lanes that want more than a word go in turns."""
    together = min(len(addresses), BANKS * WORD // max(WORD, lane_bytes))
    total = 0
    for start in range(0, len(addresses), together):
        wanted: dict[int, set[int]] = {}
        for address in addresses[start : start + together]:
            for word in range(address // WORD, -(-(address + lane_bytes) // WORD)):
                wanted.setdefault(word % BANKS, set()).add(word)
        total += max(map(len, wanted.values()))
    return total


def passes(registers: Distributed, shared: Shared, shape: Shape, element_bits: int) -> Passes:
    """The first access of the first warp, when a tensor moves between registers and shared memory in accesses of one width."""
    size = element_bits // 8
    offset = dict(zip(elements(shape), shared.offsets(shape), strict=True))
    held = registers.places(shape)
    lanes = range(1 + max(owner.lane for owner in held))
    count = 1 + max(owner.register for owner in held)

    def at(lane: int, register: int) -> int:
        return offset[held[Owner(register, lane, 0)]]

    width = 1
    while 2 * width <= min(count, WIDEST // size) and all(
        at(lane, start + step) == at(lane, start) + step and at(lane, start) % (2 * width) == 0
        for lane in lanes
        for start in range(0, count, 2 * width)
        for step in range(2 * width)
    ):
        width *= 2
    addresses = [at(lane, 0) * size for lane in lanes]
    return Passes(width * size, of_addresses(addresses, width * size), max(1, width * size // WORD))
