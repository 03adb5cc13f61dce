"""The gate of a bake: the tests of what is baked run here first, and no number is written for what they find red.

A file of tests covers a piece of work if it speaks for a module that the work reaches (tests/kernels/test_softmax.py for
softmax), or runs a kernel that the work runs. A file that passed leaves a record, docs/baked/<machine>/gate/<file>.json, with the
digest of the tests and of all that they reach; while that, the GPU and the versions are the same, it is not run again.
What only compiles, for whatever GPU, is no part of this gate: `make test` asks that on any machine.
"""

import ast
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from scripts import ROOT
from scripts.baking.work import Work, reached, seconds
from scripts.launches import is_jit
from scripts.provenance import records, sources
from scripts.provenance.follow import WHOLE, Code, CodeError, Place

COMPILES_ONLY = "test_compiles"
# On these a pass depends, beside the code.
VERSIONS = ("machine", "driver", "cuda", "torch", "triton")
# How PyTorch, Triton and cuBLAS say that a GPU has no memory left, where Inductor does not say it of shared memory; and what else
# a test says that lacked some, where several shared a GPU's.
NO_MEMORY = r"OutOfMemoryError(?!: out of resource)|CUDA error: out of memory|\[CUDA\]: out of memory|CUBLAS_STATUS_ALLOC_FAILED"
CROWDED = rf"{NO_MEMORY}|GB free"


class Ran(NamedTuple):
    """What a file of tests came to: how many passed, how long that took, and what pytest printed if it is red."""

    file: str
    passed: int
    seconds: float
    red: str


def files(work: list[Work], code: Code) -> dict[str, list[Work]]:
    """The files of tests that cover each piece of work, by their stems."""
    folder = code.root / sources.TESTS
    stems = sorted(path.stem for path in folder.glob("test_*.py") if path.stem != COMPILES_ONLY)
    covering: dict[str, list[Work]] = {}
    for item in work:
        if item.kind == "lab":  # it has its own kernels and its own checks
            continue
        try:
            found = reached(item, code)
        except CodeError:
            continue  # its own turn will say what is wrong with it
        modules, kernels = modules_of(found, code), kernels_of(found, code)
        for stem in stems:
            if covers(stem, modules, kernels, code):
                covering.setdefault(stem, []).append(item)
    return covering


def covers(stem: str, modules: set[str], kernels: set[Place], code: Code) -> bool:
    """Whether a file of tests speaks for one of these modules of the library, or runs one of these kernels."""
    if stem.removeprefix("test_") in modules:
        return True
    try:
        run = kernels_run_by(stem, code)
    except CodeError:
        return True  # nobody can tell
    # None: it takes the whole library, as what a graph records.
    return "in_graphs" in modules or "register" in modules if run is None else bool(run & kernels)


@cache
def kernels_run_by(stem: str, code: Code) -> set[Place] | None:
    """The kernels that a file of tests reaches; None for a file that takes the whole library."""
    imports = set(code.imports(code.root / sources.TESTS / f"{stem}.py").values())
    return None if Place(code.root / sources.PACKAGE, WHOLE) in imports else kernels_of(code.followed(imports), code)


def modules_of(places: Iterable[Place], code: Code) -> set[str]:
    """The modules of the library among the places of some definitions."""
    return {place.path.stem for place in places if place.path.is_relative_to(code.root / "kernels")}


def kernels_of(places: Iterable[Place], code: Code) -> set[Place]:
    """The kernels of the library among some definitions."""
    return {place for place in places if place.path.is_relative_to(code.root / "kernels") and is_kernel(place, code)}


@cache
def is_kernel(place: Place, code: Code) -> bool:
    nodes = code.parts(place.path).get(place.name, [])
    return any(isinstance(node, ast.FunctionDef) and any(map(is_jit, node.decorator_list)) for node in nodes)


def is_passed(stem: str, environment: dict[str, Any], code: Code) -> bool:
    """Whether these tests, as they are today, passed on this machine with these versions."""
    try:
        record = records.read(records.record_path(environment["machine"], "gate", stem))
    except records.RecordError:
        return False
    same = all(record["environment"].get(key) == environment[key] for key in VERSIONS)
    return same and sources.is_fresh(record, code)


def keep(ran: Ran, environment: dict[str, Any], code: Code) -> Path:
    head = {"schema": records.SCHEMA, "kind": "gate", "name": ran.file, "hash": sources.digest_of("gate", ran.file, code)}
    contents = {"environment": environment, "seconds": ran.seconds, "passed": ran.passed}
    path = records.record_path(environment["machine"], "gate", ran.file)
    records.write(path, head | contents)
    return path


def test(stem: str, variables: Callable[[], dict[str, str]], workers: int, clock: Callable[[], float]) -> Ran:
    """Run one file of tests; `workers` at a time, where pytest-xdist is there."""
    began = clock()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "junit.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{sources.TESTS}/{stem}.py"]
        command += [f"--junitxml={report}"]
        if workers > 1 and has_xdist():  # most of their time is spent compiling, one kernel at a time
            command += ["-n", str(workers), "--dist", "load"]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=variables())
        ran = len(list(ET.parse(report).iter("testcase"))) if report.exists() else 0
    passed = sum(int(count) for count in re.findall(r"(\d+) passed", result.stdout))
    spent = round(clock() - began, 1)
    # Where pytest is not content, or no test ran at all, nothing has been shown.
    is_green = result.returncode == 0 and ran
    said = "" if is_green else "\n".join((result.stdout or result.stderr).splitlines()[-40:]) or "no test ran"
    return Ran(stem, passed, spent, said)


def is_crowded(ran: Ran) -> bool:
    return bool(re.search(CROWDED, ran.red))


def has_xdist() -> bool:
    """Whether a test run here will know the options of pytest-xdist."""
    return bool(find_spec("xdist")) and "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ


def expected(stem: str, machine: str) -> float:
    return seconds("gate", stem, machine)
