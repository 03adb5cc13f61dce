"""Watch every access of a kernel under Triton's interpreter, lane by lane.

What lies outside of every tensor is not touched: those lanes are switched off, reads give NaN, and a finding is kept.
Masked lanes of a load without `other` are NaN too, because a GPU promises nothing about them. A maximum leaves NaN out, so
a second run fills those lanes with infinities.
"""

from typing import Any

import numpy as np

from kernels.labs.watch.findings import Finding
from kernels.labs.watch.races import AccessLog
from kernels.labs.watch.regions import Region
from kernels.labs.watch.source import running_line, statement_at


def undefined(values: np.ndarray, lanes: np.ndarray, extremes: bool = False) -> np.ndarray:
    """The values with these lanes set to NaN, or to infinities of either sign in turn; integers to -1, or to their limits."""
    values = values.copy()
    if not extremes:
        values.view(f"u{values.itemsize}")[lanes] = 2 ** (8 * values.itemsize) - 1
    elif np.issubdtype(values.dtype, np.floating):
        values[lanes] = np.where(np.arange(lanes.sum()) % 2, -np.inf, np.inf)
    elif values.dtype != bool:
        limits = np.iinfo(values.dtype)
        values[lanes] = np.where(np.arange(lanes.sum()) % 2, limits.min, limits.max)
    return values


class Watch:
    def __init__(self, regions: list[Region], extremes: bool = False):
        self.regions = regions
        self.extremes = extremes  # whether lanes of undefined contents hold infinities instead of NaN
        self.own = {region.tensor.untyped_storage().data_ptr() for region in regions}
        self.findings: list[Finding] = []
        self.fillers: list[str] = []  # loads that masked lanes off and gave no `other`
        self.truths: list[str] = []  # statements that took a block of several lanes for one truth
        self.sources: list[str] = []
        self.grid: tuple[int, ...] = ()
        self.program: tuple[int, ...] = ()
        self.launches = self.programs = self.most_lanes = 0
        self.worked: set[tuple[int, ...]] = set()  # the programs of this launch with a lane that was not masked off
        self.idle: list[tuple[int, int]] = []  # of each launch, how many programs had none, and how many there were
        self.log = AccessLog()
        self.statements: dict[tuple[str, int], str] = {}

    def statement(self) -> str:
        """The reader's statement that is running."""
        place = running_line()
        if place not in self.statements:
            self.statements[place] = statement_at(place)
        return self.statements[place]

    def add(self, kind: str, region: Region, **fields: Any) -> None:
        self.findings.append(Finding(kind, region, self.program, self.grid, **fields))

    def located(self, addresses: np.ndarray) -> tuple[np.ndarray, list[tuple[Region, np.ndarray, np.ndarray]]]:
        """Where each address truly lies (0: nowhere), and by region which lanes hit it and which elements."""
        real, hits = np.zeros(addresses.shape, dtype=np.int64), []
        for region in self.regions:
            inside, at = region.find(addresses)
            inside &= real == 0
            if inside.any():
                real[inside] = region.real[at[inside]]
                hits.append((region, inside, at[inside]))
        return real, hits

    def nearest(self, address: int) -> Region:
        return min(self.regions, key=lambda region: (not region.is_far, region.distance(address)))

    def access(self, kind: str, pointers: np.ndarray, on: np.ndarray, value: Any) -> tuple[np.ndarray, np.ndarray, list]:
        """Note one access; return the pointers and the mask with which it may go on, and what it hits."""
        addresses = pointers.astype(np.int64)
        real, hits = self.located(addresses)
        statement, self.most_lanes = self.statement(), max(self.most_lanes, addresses.size)
        wild = on & (real == 0)
        if wild.any():
            region = self.nearest(int(addresses[wild].flat[0]))
            what = dict(lanes=np.flatnonzero(wild), offsets=region.offsets(addresses[wild]), whole=not (on & ~wild).any())
            self.add("wild load" if kind == "load" else "wild store", region, statement=statement, shape=addresses.shape, **what)
        if on.any():
            self.worked.add(self.program)
        good = on & ~wild
        for region, inside, at in hits:
            if kind != "load":
                region.written[at[good[inside]]] = True
                region.skipped[at[~on[inside]]] = True
            if kind != "load" and region.role == "input" and good[inside].any():
                self.add("input", region, statement=statement, lanes=np.flatnonzero(inside & good))
        if kind == "store" and value is not None:
            self.same_element(addresses, good, value, statement)
        self.log.add(kind, real[good], self.program, statement)
        return np.where(real == 0, addresses, real).astype(np.uint64), good, hits

    def same_element(self, addresses: np.ndarray, good: np.ndarray, value: np.ndarray, statement: str) -> None:
        """Two lanes of one store that give one element different values: which one stays is chance."""
        targets, values = addresses[good], np.broadcast_to(value, addresses.shape)[good]
        order = np.argsort(targets, kind="stable")
        same = (np.diff(targets[order]) == 0) & (values[order][1:] != values[order][:-1])
        if same.any():
            lanes = np.flatnonzero(good)[order[np.flatnonzero(same)[0] :][:2]]
            region = self.nearest(int(addresses.flat[lanes[0]]))
            self.add("lanes", region, statement=statement, lanes=np.sort(lanes), offsets=region.offsets(addresses.ravel()[lanes]))

    def unset(self, hits: list, good: np.ndarray, values: np.ndarray) -> None:
        """A read of an output that nobody has written yet."""
        for region, inside, at in hits:
            if region.role == "out" and np.issubdtype(values.dtype, np.floating):
                fresh = np.zeros(inside.shape, dtype=bool)
                fresh[inside] = ~region.written[at]
                fresh &= good & np.isnan(values.reshape(good.shape))
                if fresh.any():
                    self.add("unset", region, statement=self.statement(), lanes=np.flatnonzero(fresh))
