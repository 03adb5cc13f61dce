"""What the benchmarks at drawn shapes found: every case beside its best peer, and of each operation the spread of the ratios.

A record of a program of snippets/drawn holds `drawn`: the operation, the seed, and of each case the times of all who took it. The
standard library alone.
"""

import statistics
from typing import Any, NamedTuple

from scripts.pages.peers import LEVEL, OPERATIONS, PEERS

NEAR_THE_COPY = 0.92  # a case that moves its bytes at this part of a copy's rate or faster is level at least
# What was asked of every operation before it was measured: the least geometric mean and tenth percentile, by direction.
PRODUCTS = ("mm", "attention")
ASKED = {"products": {"fwd": (0.97, 0.85), "bwd": (0.97, 0.85)}, "rows": {"fwd": (1.05, 0.92), "bwd": (1.10, 0.92)}}
TOLD = {"fwd": "forward", "bwd": "backward", "fwdbwd": "loss and gradient"}
HEAD = ["operation", "direction", "cases", "mean", "tenth percentile", "won", "lost", "worst", "its ratio", "its peer"]
ASKED_HEAD = ["operation", "direction", "mean asked", "mean reached", "mean", "tenth percentile asked"]
ASKED_HEAD += ["tenth percentile reached", "tenth percentile"]
COLUMNS = ["gpu", "seed", "op", "direction", "shape", "dtype", "implementation", "ms_p20", "ms_p50", "ms_p80", "bytes", "flops"]

Record = dict[str, Any]


class Case(NamedTuple):
    """One direction of one drawn shape: our median and the best peer's, in milliseconds."""

    op: str
    direction: str
    shape: str
    dtype: str
    bytes: int
    ours: float
    peer: str
    theirs: float
    of_copy: float  # the time of a copy of as many bytes, divided by ours

    @property
    def ratio(self) -> float:
        """The peer's time divided by ours."""
        return self.theirs / self.ours

    @property
    def counted(self) -> float:
        """The ratio, but level where our kernel is as near to the copy's rate as one comes."""
        return max(self.ratio, 1.0) if self.of_copy >= NEAR_THE_COPY else self.ratio


def cases(record: Record) -> list[Case]:
    """Every case in which a peer took part, in the order of the draw."""
    copy = record["ceilings"]["copy"]
    rate = copy["bytes"] / copy["ms"][1]
    found = []
    for row in record["drawn"]["cases"]:
        medians = {name: ms[1] for name, ms in row["ms"].items()}
        ours = medians.pop("blockwise")
        if medians:
            peer = min(medians, key=lambda name: medians[name])
            known = (row["op"], row["direction"], row["shape"], row["dtype"], row["bytes"])
            found.append(Case(*known, ours, peer, medians[peer], row["bytes"] / rate / ours))
    return found


def summary(found: list[Case]) -> dict[str, Any]:
    """Of the cases of one operation and direction: geometric mean, tenth percentile, the worst, how many were won and lost."""
    ratios = sorted(case.counted for case in found)
    worst = min(found, key=lambda case: case.counted)
    return {
        "cases": len(found),
        "mean": statistics.geometric_mean(ratios),
        "tenth": statistics.quantiles(ratios, n=10, method="inclusive")[0],
        "won": sum(ratio > 1 + LEVEL for ratio in ratios),
        "lost": sum(ratio < 1 - LEVEL for ratio in ratios),
        "worst": {"shape": worst.shape, "dtype": worst.dtype, "ratio": worst.counted, "peer": worst.peer},
    }


def directions(found: list[Case]) -> dict[str, list[Case]]:
    by: dict[str, list[Case]] = {}
    for case in found:
        by.setdefault(case.direction, []).append(case)
    return by


def table(records: dict[str, Record]) -> list[list[Any]]:
    """A line for each operation and direction, its head first."""
    lines: list[list[Any]] = [HEAD]
    for record in records.values():
        for direction, some in directions(cases(record)).items():
            of = summary(some)
            worst = of["worst"]
            line = [OPERATIONS.get(some[0].op, some[0].op), TOLD[direction], of["cases"]]
            line += [f"{of['mean']:.2f}", f"{of['tenth']:.2f}", of["won"], of["lost"]]
            line += [f"{worst['shape']} {worst['dtype']}", f"{worst['ratio']:.2f}"]
            lines.append([*line, PEERS.get(worst["peer"], worst["peer"])])
    return lines


def met(records: dict[str, Record]) -> tuple[list[list[Any]], int]:
    """A line for each operation and direction with what was asked and what was reached, its head first; and how many met both.

    Figures are compared as they are and printed with three places, so that what is missed by a hair is seen to be missed.
    """
    lines: list[list[Any]] = [ASKED_HEAD]
    for record in records.values():
        for direction, some in directions(cases(record)).items():
            of, asked = summary(some), ASKED["products" if some[0].op in PRODUCTS else "rows"].get(direction)
            line = [OPERATIONS.get(some[0].op, some[0].op), TOLD[direction]]
            for least, reached in zip(asked or (), (of["mean"], of["tenth"]), strict=False):
                line += [f"{least:.2f}", f"{reached:.3f}", "met" if reached >= least else "missed"]
            lines += [line] if asked else []
    return lines, sum(line.count("met") == 2 for line in lines)
