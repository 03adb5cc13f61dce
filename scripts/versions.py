"""Ask every Triton that the library runs on, and keep what it makes and says, for the pages that compare versions.

    python scripts/versions.py                  every kernel of the library, and every program of snippets/versions
    python scripts/versions.py --stale          only what has no record of today's code
    python scripts/versions.py softmax_kernel versions/strided   these kernels and programs

Each version has an environment of its own, .venv/triton-<version>, which `make test-matrix` makes first. There some launches of
each kernel are compiled for an H200 that need not be there, and by the newest version once more without fused multiplications
and additions, as the next one will by default; one record a kernel goes to docs/baked/cpu/by_version. And there each program of
snippets/versions that needs no GPU runs, and what it prints goes to docs/baked/cpu/printed.

The times are a bake's, of snippets/versions/timed.py: it runs that with the Triton that is installed, and with --triton FOLDER
once more with the one in FOLDER, whose record goes to docs/baked/<gpu>-triton-<version>.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts import matrix
from scripts.launches import SPECIMENS, Specimen
from scripts.provenance import records, sources
from scripts.provenance.environment import environment
from scripts.provenance.follow import Code
from scripts.provenance.programs import needs_of, snippet_names

TARGET = "sm_90"
LAUNCHES = 2  # of each kernel: the first that is listed, and the last


class Way(NamedTuple):
    """A version of Triton, and whether it may fuse a multiplication and an addition."""

    triton: str
    fusion: bool = True

    @property
    def name(self) -> str:
        """As records have it."""
        return self.triton if self.fusion else f"{self.triton} unfused"


def ways() -> list[Way]:
    every = matrix.versions()
    return [*(Way(version) for version in every), Way(every[-1], fusion=False)]


def launches() -> dict[str, list[Specimen]]:
    """Of each kernel of the library two launches, as a rule that of its shortest rows and that of its longest."""
    listed: dict[str, list[Specimen]] = {}
    for specimen in SPECIMENS:
        if specimen.path.startswith("kernels/"):
            listed.setdefault(specimen.function, []).append(specimen)
    return {kernel: spread(found) for kernel, found in listed.items()}


def spread(found: list[Specimen]) -> list[Specimen]:
    steps = min(LAUNCHES, len(found)) - 1
    return [found[step * (len(found) - 1) // max(steps, 1)] for step in range(steps + 1)]


def is_current(kernel: str, code: Code) -> bool:
    """Whether there is a record of today's code, of today's launches and of today's versions."""
    try:
        record = records.read(records.record_path("cpu", "versions", kernel))
    except records.RecordError:
        return False
    today = [(launch.name, launch.launch, [way.name for way in ways()]) for launch in launches()[kernel]]
    of = [(entry["specimen"], entry["launch"], list(entry["by"])) for entry in record["launches"]]
    return of == today and sources.is_fresh(record, code)


class Worker:
    """A Python with one version of Triton, which answers one question after another."""

    def __init__(self, python: str, script: str):
        self.cache = tempfile.TemporaryDirectory()
        own = matrix.variables() | {"TRITON_DISABLE_LINE_INFO": "1", "TRITON_CACHE_DIR": self.cache.name}
        pipe, command = subprocess.PIPE, [python, f"scripts/recording/{script}"]
        self.process = subprocess.Popen(command, cwd=records.ROOT, env=own, stdin=pipe, stdout=pipe, text=True)

    def ask(self, question: Any) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        print(json.dumps(question), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()
        self.cache.cleanup()


def compiled(worker: Worker, launch: Specimen, way: Way) -> dict[str, Any]:
    """What a launch takes, compiled in this way."""
    return worker.ask((launch.name, TARGET, way.fusion))


def write(kernel: str, found: list[dict[str, Any]]) -> None:
    head = {"schema": records.SCHEMA, "kind": "versions", "name": kernel, "hash": sources.digest_of("versions", kernel)}
    head |= {"environment": environment(cpu=True), "target": TARGET}
    records.write(records.record_path("cpu", "versions", kernel), head | {"launches": found})


def programs() -> list[str]:
    """What runs under every version, as `versions/<name>`."""
    return [name for name in snippet_names() if name.startswith("versions/") and not needs_of(name)]


def heard(worker: Worker, name: str) -> list[str]:
    """What a program prints."""
    answer = worker.ask(name)
    if answer["ended"]:
        raise records.RecordError(f"{name}: {answer['ended']}; nothing was kept")
    return answer["printed"]


def keep(name: str, printed: dict[str, list[str]]) -> None:
    head = {"schema": records.SCHEMA, "kind": "printed", "name": name, "hash": sources.digest_of("printed", name)}
    records.write(records.record_path("cpu", "printed", name), head | {"environment": environment(cpu=True), "printed": printed})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="kernels and programs; all if none is named")
    parser.add_argument("--stale", action="store_true", help="only what has no record of today's code")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - launches().keys() - set(programs()):
        print(f"neither a kernel of the library nor a program: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    code = Code()
    names = arguments.names or [*launches(), *programs()]
    kernels = [name for name in names if name in launches() and not (arguments.stale and is_current(name, code))]
    asked = [name for name in names if "/" in name and not (arguments.stale and sources.is_kept("cpu", "printed", name, code))]
    with ExitStack() as open_ones:
        python = {version: matrix.python_of(version) for version in matrix.versions()}
        if asked:
            speakers = {version: open_ones.enter_context(Worker(python[version], "printed.py")) for version in python}
        for name in asked:
            keep(name, {version: heard(speaker, name) for version, speaker in speakers.items()})
            print(name, flush=True)
        if kernels:
            makers = {version: open_ones.enter_context(Worker(python[version], "by_version.py")) for version in python}
        for kernel in kernels:
            found = []
            for launch in launches()[kernel]:
                by = {way.name: compiled(makers[way.triton], launch, way) for way in ways()}
                found.append({"specimen": launch.name, "launch": launch.launch, "by": by})
            write(kernel, found)
            print(kernel, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
