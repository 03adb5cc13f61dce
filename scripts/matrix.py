"""Test the library on every version of Triton that it supports, and keep what came out for the compatibility page.

    python scripts/matrix.py                 every version that has a file pins/triton-<version>.txt, every module
    python scripts/matrix.py --stale         only what has no record of today's code
    python scripts/matrix.py '3.6.0/*'       one version; a pattern names version and module, as 3.6.0/softmax

Each version has an environment of its own, which `make test-matrix` makes first. There a module's tests run under
the interpreter, and its specimens are compiled for GPUs that need not be here. One record a version and module goes
to docs/baked/cpu/matrix.
"""

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.compile import TARGETS, compile_all
from scripts.launches import SPECIMENS, Specimen
from scripts.provenance import records, sources
from scripts.provenance.follow import Code

NVIDIA = ["sm_80", "sm_90", "sm_100", "sm_120"]
AMD = ["gfx942"]
MAX_THREADS = 1024
# So many launches of each kernel are compiled, from its shortest rows to its longest; the tests of the kernels compile all.
SAMPLE = 6
VERSIONS = """
import json, numpy, pytest
from scripts.provenance.environment import environment
print(json.dumps({"environment": environment(cpu=True), "numpy": numpy.__version__, "pytest": pytest.__version__}))
"""


def versions() -> list[str]:
    return sorted(path.stem.removeprefix("triton-") for path in (records.ROOT / "pins").glob("triton-*.txt"))


def modules() -> list[str]:
    return sources.public_functions()


def parts() -> list[str]:
    """The name of every record: a version and a module."""
    return [f"{version}/{module}" for version in versions() for module in modules()]


def kept() -> list[str]:
    """The parts that have a record; the compatibility page names the others."""
    return [part for part in parts() if records.record_path("cpu", "matrix", part).exists()]


def specimens(module: str) -> list[Specimen]:
    """Some of what a public function may launch: each kernel, at lengths and dtypes spread evenly."""
    reached = sources.reached_by(module, Code())
    by_kernel: dict[str, list[Specimen]] = {}
    for specimen in SPECIMENS:
        if (records.ROOT / specimen.path, specimen.function) in reached:
            by_kernel.setdefault(specimen.kernel, []).append(specimen)
    return [specimen for found in by_kernel.values() for specimen in spread(found)]


def spread(found: list[Specimen]) -> list[Specimen]:
    """The first, the last, and some between."""
    steps = min(SAMPLE, len(found)) - 1
    return [found[round(step * (len(found) - 1) / max(steps, 1))] for step in range(steps + 1)]


def python_of(version: str) -> str:
    python = records.ROOT / ".venv" / f"triton-{version}" / "bin" / "python"
    if not python.exists():
        raise records.RecordError(f"there is no environment .venv/triton-{version}: run `make .venv/triton-{version}/ready`")
    return str(python)


def variables() -> dict[str, str]:
    """No GPU, the checkout importable, and every version told what the coming ones do by themselves."""
    kept = {key: value for key, value in os.environ.items() if key not in ("TRITON_INTERPRET", "PYTHONPATH")}
    return kept | {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(records.ROOT), "CI": "1", "TRITON_DEFAULT_FP_FUSION": "1"}


def tested(python: str, module: str) -> dict[str, Any]:
    """How many of the module's tests passed, and the names of those that did not."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "junit.xml"
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *sources.tests_of(module)]
        command.append(f"--junitxml={report}")
        result = subprocess.run(command, cwd=records.ROOT, env=variables(), capture_output=True, text=True)
        if not report.exists():
            raise RuntimeError(f"pytest ended with status {result.returncode}\n{(result.stdout + result.stderr).strip()[-2000:]}")
        cases = list(ET.parse(report).iter("testcase"))
    failed = [name_of(case) for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    return {"passed": len(cases) - len(failed) - skipped, "failed": len(failed), "skipped": skipped, "failures": failed}


def name_of(case: ET.Element) -> str:
    return f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '')}"


def compiled(python: str, module: str) -> dict[str, Any]:
    """For every target, how many specimens compiled into what a GPU would launch, and what is wrong with the others."""
    chosen = {specimen.name: specimen for specimen in specimens(module)}
    found = compile_all(NVIDIA + AMD, list(chosen), python)
    targets = {}
    for target in NVIDIA + AMD:
        entries = [entry for entry in found if entry["target"] == target]
        errors = {name: reason for entry in entries if (reason := obstacle(entry, chosen[name := entry["specimen"]]))}
        targets[target] = {"specimens": len(entries), "compiled": len(entries) - len(errors), "errors": errors}
    return targets


def obstacle(entry: dict[str, Any], specimen: Specimen) -> str:
    """Why a specimen would not run on its target, or takes more there than its bounds allow."""
    if "error" in entry:
        return entry["error"]
    threads = entry["configuration"]["num_warps"] * (64 if entry["target"] in AMD else 32)
    if threads > MAX_THREADS:
        return f"asks for {threads} threads a program, and {MAX_THREADS} is the limit"
    bounds = {"registers": specimen.registers, "spill_bytes": specimen.spills, "shared_bytes": specimen.shared}
    over = [
        f"{entry[key]} {key}, {bound} at most"
        for key, bound in bounds.items()
        if entry["target"] in TARGETS and entry[key] > bound
    ]
    return "; ".join(over)


def record(part: str) -> dict[str, Any]:
    version, module = part.split("/")
    python = python_of(version)
    asked = subprocess.run(
        [python, "-c", VERSIONS], cwd=records.ROOT, env=variables(), capture_output=True, text=True, check=True
    )
    found = json.loads(asked.stdout)
    head = {"schema": records.SCHEMA, "kind": "matrix", "name": part, "hash": sources.digest_of("matrix", part)}
    head |= {"environment": found.pop("environment"), "versions": found}
    return head | {"tests": tested(python, module), "targets": compiled(python, module)}


def is_due(part: str) -> bool:
    """Whether there is no record of today's code."""
    return not sources.is_kept("cpu", "matrix", part)


def summary(found: dict[str, Any]) -> str:
    tests = found["tests"]
    targets = ", ".join(f"{target} {entry['compiled']}/{entry['specimens']}" for target, entry in found["targets"].items())
    return f"{tests['passed']} passed, {tests['failed']} failed, {tests['skipped']} skipped; compiled: {targets}"


def is_green(found: dict[str, Any]) -> bool:
    return not found["tests"]["failed"] and not any(found["targets"][target]["errors"] for target in NVIDIA)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", metavar="VERSION/MODULE", help="what to renew; everything if nothing is named")
    parser.add_argument("--stale", action="store_true", help="only what has no record of today's code")
    arguments = parser.parse_args()
    patterns = arguments.patterns or ["*"]
    for pattern in patterns:
        if not fnmatch.filter(parts(), pattern):
            known = f"versions {', '.join(versions())} and modules {', '.join(modules())}"
            print(f"{pattern} fits no version and module; there are {known}", file=sys.stderr)
            return 2
    red = []
    for part in parts():
        if not any(fnmatch.fnmatch(part, pattern) for pattern in patterns) or arguments.stale and not is_due(part):
            continue
        print(f"triton {part} ...", end=" ", flush=True)
        began = time.monotonic()
        try:
            found = record(part)
        except (records.RecordError, RuntimeError) as error:
            print(error)
            red.append(part)
            continue
        records.write(records.record_path("cpu", "matrix", part), found)
        print(f"{summary(found)} ({time.monotonic() - began:.0f} s)")
        red += [] if is_green(found) else [part, *found["tests"]["failures"]]
    if red:
        print("red:", *red, sep="\n  ", file=sys.stderr)
    return int(bool(red))


if __name__ == "__main__":
    sys.exit(main())
