"""Test the library on every version of Triton that it supports, and keep what came out for the compatibility page.

    python scripts/matrix.py             every version that has a file pins/triton-<version>.txt
    python scripts/matrix.py 3.6.0       one version

Each version has an environment of its own, which `make test-matrix` makes first. There the kernels' tests run under
the interpreter, and every specimen is compiled for GPUs that need not be here. One record a version goes to
docs/baked/cpu/matrix; the same command renews them all.
"""

import argparse
import ast
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
from scripts import records
from scripts.compile import compile_all

NVIDIA = ["sm_80", "sm_90", "sm_100", "sm_120"]
AMD = ["gfx942"]
MAX_THREADS = 1024
VERSIONS = """
import json, numpy, pytest
from scripts.environment import environment
print(json.dumps({"environment": environment(cpu=True), "numpy": numpy.__version__, "pytest": pytest.__version__}))
"""


def versions() -> list[str]:
    return sorted(path.stem.removeprefix("triton-") for path in (records.ROOT / "pins").glob("triton-*.txt"))


def code() -> list[str]:
    """The module of every public function, whose siblings the hash follows, and what compiled them."""
    body = ast.parse((records.ROOT / "kernels/__init__.py").read_text(encoding="utf-8")).body
    modules = [f"{node.module.replace('.', '/')}.py" for node in body if isinstance(node, ast.ImportFrom) and node.module]
    return sorted(modules) + ["scripts/compile.py"]


def python_of(version: str) -> str:
    python = records.ROOT / ".venv" / f"triton-{version}" / "bin" / "python"
    if not python.exists():
        raise records.RecordError(f"there is no environment .venv/triton-{version}: run `make .venv/triton-{version}/ready`")
    return str(python)


def variables() -> dict[str, str]:
    """No GPU, the checkout importable, and every version told what the coming ones do by themselves."""
    kept = {key: value for key, value in os.environ.items() if key not in ("TRITON_INTERPRET", "PYTHONPATH")}
    return kept | {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(records.ROOT), "CI": "1", "TRITON_DEFAULT_FP_FUSION": "1"}


def tested(python: str) -> dict[str, Any]:
    """How many of the kernels' tests passed, and the names of those that did not."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "junit.xml"
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/kernels", f"--junitxml={report}"]
        result = subprocess.run(command, cwd=records.ROOT, env=variables(), capture_output=True, text=True)
        if not report.exists():
            raise RuntimeError(f"pytest ended with status {result.returncode}\n{(result.stdout + result.stderr).strip()[-2000:]}")
        cases = list(ET.parse(report).iter("testcase"))
    failed = [name_of(case) for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    return {"passed": len(cases) - len(failed) - skipped, "failed": len(failed), "skipped": skipped, "failures": failed}


def name_of(case: ET.Element) -> str:
    return f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '')}"


def compiled(python: str) -> dict[str, Any]:
    """For every target, how many specimens compiled into what a GPU would launch, and what is wrong with the others."""
    found = compile_all(NVIDIA + AMD, python=python)
    targets = {}
    for target in NVIDIA + AMD:
        entries = [entry for entry in found if entry["target"] == target]
        errors = {entry["specimen"]: reason for entry in entries if (reason := obstacle(entry))}
        targets[target] = {"specimens": len(entries), "compiled": len(entries) - len(errors), "errors": errors}
    return targets


def obstacle(entry: dict[str, Any]) -> str:
    """Why a specimen would not run on its target: it does not compile, or asks for more threads than a program may have."""
    if "error" in entry:
        return entry["error"]
    threads = entry["configuration"]["num_warps"] * (64 if entry["target"] in AMD else 32)
    return f"asks for {threads} threads a program, and {MAX_THREADS} is the limit" if threads > MAX_THREADS else ""


def record(version: str) -> dict[str, Any]:
    python = python_of(version)
    asked = subprocess.run(
        [python, "-c", VERSIONS], cwd=records.ROOT, env=variables(), capture_output=True, text=True, check=True
    )
    found = json.loads(asked.stdout)
    head = {"schema": records.SCHEMA, "kind": "matrix", "name": version, "code": code(), "hash": records.code_hash(code())}
    head |= {"environment": found.pop("environment"), "versions": found}
    return head | {"tests": tested(python), "targets": compiled(python)}


def summary(found: dict[str, Any]) -> str:
    tests = found["tests"]
    targets = ", ".join(f"{target} {entry['compiled']}/{entry['specimens']}" for target, entry in found["targets"].items())
    return f"{tests['passed']} passed, {tests['failed']} failed, {tests['skipped']} skipped; compiled: {targets}"


def is_green(found: dict[str, Any]) -> bool:
    return not found["tests"]["failed"] and not any(found["targets"][target]["errors"] for target in NVIDIA)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"of {', '.join(versions())}; all if none is given")
    asked = parser.parse_args().versions or versions()
    unknown = [version for version in asked if version not in versions()]
    if unknown:
        print(f"there is no pins/triton-{unknown[0]}.txt; there are {', '.join(versions())}", file=sys.stderr)
        return 2
    red = []
    for version in asked:
        print(f"triton {version} ...", end=" ", flush=True)
        began = time.monotonic()
        try:
            found = record(version)
        except (records.RecordError, RuntimeError) as error:
            print(error)
            red.append(version)
            continue
        records.write(records.record_path("cpu", "matrix", version), found)
        print(f"{summary(found)} ({time.monotonic() - began:.0f} s)")
        red += [] if is_green(found) else [version, *found["tests"]["failures"]]
    if red:
        print("red:", *red, sep="\n  ", file=sys.stderr)
    return int(bool(red))


if __name__ == "__main__":
    sys.exit(main())
