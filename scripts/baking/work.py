"""What there is to bake, and how long it took the last time. Names only: nothing here needs torch or a GPU."""

import contextlib
from functools import cache
from typing import Any, NamedTuple

from scripts.launches import SPECIMENS, VIEWED
from scripts.provenance import labs, programs, records, sources
from scripts.provenance.environment import primary_machine
from scripts.provenance.follow import Code, CodeError, Place

# What a piece of work takes where no record tells, in seconds on one core.
GUESS = {"program": 8.0, "compiled": 4.0, "layout": 6.0, "trace": 6.0, "lab": 30.0, "gate": 30.0}
GUESS |= {"gallery": 240.0, "mutants": 360.0, "measured": 120.0, "finished": 90.0}
FOLDERS = {"compiled": "compiled", "layouts": "layout", "traces": "trace", "labs": "lab"}
FOLDERS |= {"noticed": "gallery", "mutants": "mutants", "finished": "finished"}
# The program that is timed with a second Triton, too, where the bake is lent one.
TIMED = "versions/timed"


class Work(NamedTuple):
    """One record to make: its kind, its name within that kind, and the version of a Triton other than the one installed."""

    kind: str
    short: str
    triton: str = ""

    @property
    def name(self) -> str:
        """As `--only` spells it: `fused_softmax/launch`, `compiled/add_kernel`, `traces/norms/partial_sums`, `labs/softmax`."""
        folder = next((folder for folder, kind in FOLDERS.items() if kind == self.kind), "")
        return f"{folder}/{self.short}{self.suffix}" if folder else f"{self.short}{self.suffix}"

    @property
    def suffix(self) -> str:
        """What a machine's folder and the work's name end in, where another Triton than the one installed runs it."""
        return f"-triton-{self.triton}" if self.triton else ""


def everything(cpu: bool, several: bool = False, triton: str = "") -> list[Work]:
    """Everything that a machine with a GPU, one without, or one with several GPUs together, makes a record of; with the version
    of a Triton that is lent beside the one installed, also what is asked of both."""
    needs = {name: programs.needs_of(name) for name in programs.snippet_names()}
    if several:
        return [Work("program", name) for name, asked in needs.items() if asked == programs.SEVERAL]
    found = [Work("program", name) for name, asked in needs.items() if asked != programs.SEVERAL and not (cpu and asked)]
    found += [Work("compiled", name) for name in dict.fromkeys(specimen.function for specimen in SPECIMENS)]
    found += [Work("lab", name) for name in labs.names()] + [Work("finished", "capstone")]
    if cpu:
        found += [Work("layout", name) for name in VIEWED]
        return found + [Work("trace", name) for name in sources.recorded_runs()]
    found += [Work("gallery", name) for name in programs.gallery_names()]
    found += [Work("mutants", name) for name in sources.gluon_modules()]
    return found + [Work("program", TIMED, triton)] * bool(triton)


def measures(work: Work, code: Code) -> bool:
    """Whether it times or counts something, so that nothing else may run on its GPU."""
    if work.kind in ("lab", "finished"):  # their checks give times beside PyTorch's
        return True
    if work.kind != "program":
        return False
    try:
        harness = {place.path for place in reached(work, code)} & {code.root / "kernels/tools/benchmark.py"}
        return bool(harness) or bool(programs.header(work.short, "counters", code.root))
    except CodeError:
        return True  # its own turn will say what is wrong with it


def hears_the_host(work: Work, code: Code) -> bool:
    """Whether it times calls from Python, which last longer on a busy host, so that nothing else may run on its machine. Drawn
    shapes are replayed from CUDA graphs, and counters count on the GPU alone."""
    if work.kind != "program":
        return measures(work, code)
    try:
        paths = {place.path for place in reached(work, code)}
    except CodeError:
        return True
    harness, replayed = (code.root / "kernels/tools" / name for name in ("benchmark.py", "drawn.py"))
    return harness in paths and replayed not in paths


def reached(work: Work, code: Code) -> set[Place]:
    """The definitions that a piece of work is made of."""
    return set(reached_from(tuple(sources.entries(work.kind, work.short, code)), code))


@cache
def reached_from(entries: tuple[str, ...], code: Code) -> frozenset[Place]:
    whole, roots = code.parted(entries)
    wanted = [place for path in whole for place in code.imports(path).values()]
    return frozenset(code.followed([*wanted, *roots]))


def is_current(work: Work, machine: str, code: Code) -> bool:
    """Whether the machine has a record of today's code; of a kernel also of today's launches, of a lab of today's cells."""
    try:
        record = records.read(records.record_path(machine + work.suffix, work.kind, work.short))
    except records.RecordError:
        return False
    if not sources.is_fresh(record, code):
        return False
    if work.kind == "lab":
        return labs.is_of_these_cells(record)
    if work.kind == "layout":
        return [record["target"], record["launch"]] == [VIEWED[work.short], launches()[work.short]]
    if work.kind == "compiled":
        asked = {specimen.name: specimen.launch for specimen in SPECIMENS if specimen.function == work.short}
        return {entry["specimen"]: entry["launch"] for entry in record["specimens"]} == asked
    return True


def launches() -> dict[str, Any]:
    """What a record says of each launch that is compiled."""
    return {specimen.name: specimen.launch for specimen in SPECIMENS}


def seconds(kind: str, short: str, machine: str, guess: str = "") -> float:
    """How long a piece of work took when its record was made here, or else on the GPU whose numbers the pages show; where it was
    made nowhere, what its kind takes as a rule, or `guess` does."""
    known = timed(kind, short, machine)
    return known[1] if known else GUESS[guess or kind]


def timed(kind: str, short: str, machine: str) -> tuple[str, float] | None:
    """The machine whose record tells how long a piece of work took, and these seconds: this one's, or else that of the pages."""
    for known in (lambda: machine, primary_machine):
        with contextlib.suppress(records.RecordError, KeyError):
            return known(), float(records.read(records.record_path(known(), kind, short))["seconds"])
    return None
