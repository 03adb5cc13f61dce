"""Who read and wrote which address in one launch, and where two programs got into each other's way."""

from dataclasses import dataclass

import numpy as np

KINDS = {"load": 0, "store": 1, "atomic": 2}
NAMES = list(KINDS)


@dataclass
class Race:
    """An address that two programs touched, at least one of them by a plain store. The storing program is first."""

    address: int
    programs: tuple[tuple[int, ...], tuple[int, ...]]
    statements: tuple[str, str]
    other_kind: str  # what the second program did: "load", "store" or "atomic"


class AccessLog:
    def __init__(self):
        self.accesses: list[tuple[np.ndarray, int, tuple[int, ...], str]] = []

    def add(self, kind: str, addresses: np.ndarray, program: tuple[int, ...], statement: str) -> None:
        if addresses.size:
            self.accesses.append((addresses.ravel(), KINDS[kind], program, statement))

    def races(self, most: int = 1) -> list[Race]:
        """The first addresses that more than one program touched and one stored to; atomics alone are no race."""
        if not any(kind == KINDS["store"] for _, kind, _, _ in self.accesses):
            return []
        programs = {program: number for number, program in enumerate(dict.fromkeys(entry[2] for entry in self.accesses))}
        address = np.concatenate([entry[0] for entry in self.accesses])
        number = np.concatenate([np.full(len(entry[0]), i) for i, entry in enumerate(self.accesses)])
        program = np.array([programs[entry[2]] for entry in self.accesses])[number]
        stored = np.array([entry[1] == KINDS["store"] for entry in self.accesses])[number]
        order = np.argsort(address, kind="stable")
        address, number, program, stored = address[order], number[order], program[order], stored[order]
        starts = np.flatnonzero(np.r_[True, np.diff(address) > 0])
        several = np.minimum.reduceat(program, starts) != np.maximum.reduceat(program, starts)
        clash = several & np.maximum.reduceat(stored, starts)
        ends = np.r_[starts[1:], len(address)]
        found = []
        for start, end in list(zip(starts[clash], ends[clash], strict=True))[:most]:
            first = start + int(np.flatnonzero(stored[start:end])[0])
            others = start + np.flatnonzero(program[start:end] != program[first])
            second = int(others[np.argmax(stored[others])])  # one that stored, if there is one
            one, two = self.accesses[number[first]], self.accesses[number[second]]
            found.append(Race(int(address[start]), (one[2], two[2]), (one[3], two[3]), NAMES[two[1]]))
        return found
