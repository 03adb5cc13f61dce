"""Hear what every version of Triton says to the programs of the error index, and keep it for the pages under errors/.

    python scripts/errors.py                   every program of snippets/errors, on every version
    python scripts/errors.py --stale           only those that have no record of today's code
    python scripts/errors.py arange_power      these programs

Each version has an environment of its own, .venv/triton-<version>, which `make test-matrix` makes first. There a program is
asked of the compiler, for an H200 that need not be there, and of the interpreter. One record a program goes to
docs/baked/cpu/messages; what its launches print on a GPU is in that GPU's own record of the program. A program that only a GPU
refuses is not asked here: a bake on one hears it.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts import matrix
from scripts.pages import messages
from scripts.provenance import records, sources
from scripts.provenance.environment import environment

PROGRAMS = records.ROOT / "snippets" / "errors"
WAYS = ("compiler", "interpreter")


def names() -> list[str]:
    """The programs that ask for words; those of errors without a message, and those for a GPU, have their output alone."""
    asking = sorted(path.stem for path in PROGRAMS.glob("*.py") if "error_of" in path.read_text(encoding="utf-8"))
    return [name for name in asking if name not in messages.on_gpu()]


def ask(python: str, way: str, asked: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a Python's Triton says to programs, one after another."""
    command = [python, "scripts/recording/refusals.py", way]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=records.ROOT, env=matrix.variables(), stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin and process.stdout
        for name in asked:
            print(name, file=process.stdin, flush=True)
            yield name, json.loads(process.stdout.readline())
        process.stdin.close()


def failed(way: str, answer: dict[str, Any]) -> str:
    """How a program ended otherwise than it should. The compiler's turn launches nothing, so there its numbers may be wrong."""
    is_forgiven = way == "compiler" and answer["said"] and not answer["ended"].startswith("triton.")
    return "" if is_forgiven else answer["ended"] or ("" if answer["said"] else "it asked nothing")


def heard(python: str, way: str, asked: list[str]) -> dict[str, list[str]]:
    """What the programs were told."""
    found = {}
    for name, answer in ask(python, way, asked):
        if why := failed(way, answer):
            raise records.RecordError(f"{name}, {way} of {python}: {why}; nothing was kept")
        found[name] = answer["said"]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs of snippets/errors, without .py")
    parser.add_argument("--stale", action="store_true", help="only what has no record of today's code")
    parser.add_argument("--jobs", type=int, default=2, help="how many versions are asked at the same time")
    arguments = parser.parse_args()
    asked = arguments.names or names()
    if unknown := set(asked) - set(names()):
        print(f"no program asks for a message: {', '.join(sorted(unknown))}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    if arguments.stale:
        asked = [name for name in asked if not sources.is_kept("cpu", "messages", name)]
    if not asked:
        return 0
    jobs = [(version, way) for version in matrix.versions() for way in WAYS]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        found = dict(zip(jobs, pool.map(lambda job: heard(matrix.python_of(job[0]), job[1], asked), jobs), strict=True))
    for name in asked:
        said = {way: {version: found[version, way][name] for version in matrix.versions()} for way in WAYS}
        head = {"schema": records.SCHEMA, "kind": "messages", "name": name, "hash": sources.digest_of("messages", name)}
        head |= {"environment": environment(cpu=True)}
        records.write(records.record_path("cpu", "messages", name), head | {"said": said})
    return 0


if __name__ == "__main__":
    sys.exit(main())
