"""What a judge may look at: records, and nothing else. It notes which ones were read, so that a page can name them."""

import copy
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from scripts.provenance import records
from scripts.provenance.environment import primary_machine

Record = dict[str, Any]


class NotMeasured(Exception):
    """A record that a judge asks for and that nobody has made yet."""


class Verdict(NamedTuple):
    """What a judge found, and the numbers that say why, under the names by which a claim's sentences bind them."""

    verdict: str
    figures: Record


class Cell(NamedTuple):
    """One case of a benchmark: the microseconds of each implementation, all timed in one way."""

    direction: str
    shape: str
    dtype: str
    us: dict[str, float]
    flops: float | None
    bytes: float
    wide: dict[str, float]  # of each implementation, how many times the 20th percentile of its times the 80th is

    def ratio(self, one: str, other: str) -> float:
        """How many times as fast one implementation is as another."""
        return self.us[other] / self.us[one]

    @property
    def sides(self) -> list[int]:
        return [int(side) for side in self.shape.split("x")]

    def gbps(self, name: str) -> float:
        return self.bytes / self.us[name] / 1e3

    def tflops(self, name: str) -> float:
        return (self.flops or 0) / self.us[name] / 1e6


class Evidence:
    """The records of one GPU, and those of the CPU."""

    def __init__(self, machine: str = "", baked: Path = records.BAKED):
        self.machine, self.baked = machine or primary_machine(), baked
        self.read: list[str] = []  # the names of programs, and of kernels, whose records were read

    def on(self, machine: str) -> "Evidence":
        """The same of another GPU; what is read of it is noted here."""
        there = copy.copy(self)
        there.machine = machine
        return there

    def record(self, kind: str, name: str, machine: str = "") -> Record:
        path = records.record_path(machine or self.machine, kind, name, self.baked)
        if not path.exists():
            raise NotMeasured(name)
        folder = {"messages": "errors/", "gallery": "gallery/", "lens": "lens/", "versions": "by_version/"}.get(kind, "")
        if folder + name not in self.read:
            self.read.append(folder + name)
        return records.read(path)

    def names(self, folder: str) -> list[str]:
        """Of every record that a folder of the CPU's holds."""
        found = sorted(path.stem for path in (self.baked / "cpu" / folder).glob("*.json"))
        if not found:
            raise NotMeasured(folder)
        return found

    def program(self, name: str) -> Record:
        """Of a program that ran on the GPU; one that needs none may have run on the CPU alone."""
        try:
            return self.record("program", name)
        except NotMeasured:
            return self.record("program", name, "cpu")

    def figures(self, name: str) -> Record:
        found: Record = self.program(name)["figures"]
        return found

    def output(self, name: str) -> str:
        return "\n".join(self.program(name)["output"])

    def numbers(self, name: str, pattern: str) -> list[list[int]]:
        """The whole numbers that a pattern's groups hold, once for every place of the output where it fits."""
        found = [
            [int(group.replace(",", "")) for group in match.groups()] for match in re.finditer(pattern, self.output(name), re.M)
        ]
        if not found:
            raise records.RecordError(f"{name}: nothing in its output is like {pattern!r}")
        return found

    def cells(self, op: str, *programs: str, direction: str = "fwd", having: Iterable[str] = ()) -> list[Cell]:
        """Every recorded case of an operation in which the named implementations ran: replayed from a graph where all of them
        were, else called."""
        found = []
        for name in programs:
            by_case: dict[tuple[str, str, str], dict[str, dict[str, Record]]] = {}
            for row in self.record("program", name)["measurements"]:
                if row["op"] == op and row["direction"] == direction:
                    case = by_case.setdefault((row["direction"], row["shape"], row["dtype"]), {})
                    case.setdefault(row["timing"], {})[row["implementation"]] = row
            for key, timed in by_case.items():
                ways = [timed[way] for way in ("graph", "call") if way in timed and set(having) <= timed[way].keys()]
                if ways:
                    us = {each: row["ms"][1] * 1e3 for each, row in ways[0].items()}
                    wide = {each: row["ms"][2] / row["ms"][0] for each, row in ways[0].items()}
                    one = next(iter(ways[0].values()))
                    found.append(Cell(*key, us, one["flops"], one["bytes"], wide))
        return found

    def counted(self, name: str, implementation: str) -> Record:
        """Bytes to and from memory, milliseconds and kernels of an implementation under Nsight Compute, added up."""
        each = [entry for entry in self.record("program", name)["counters"] if entry["implementation"] == implementation]
        total = {key: sum(entry[key] for entry in each) for key in ("dram_read_bytes", "dram_write_bytes", "ms")}
        return {"bytes": total["dram_read_bytes"] + total["dram_write_bytes"], "ms": total["ms"], "each": each}

    def copy_gbps(self, name: str) -> float:
        """The rate of a plain copy, measured in the same run as a benchmark."""
        copy = self.record("program", name)["ceilings"]["copy"]
        return float(copy["bytes"] / copy["ms"][1] / 1e6)

    def said(self, name: str) -> dict[str, str]:
        """What each version's compiler said to a program of the error index, the oldest first; nothing where it was silent."""
        said = self.record("messages", name, "cpu")["said"]["compiler"]
        return {version: " ".join(text for text in texts if text != "no error") for version, texts in said.items()}

    def compiled(self, kernel: str) -> list[Record]:
        """The specimens of a kernel as the GPU's compiler made them."""
        found: list[Record] = self.record("compiled", kernel)["specimens"]
        return found
