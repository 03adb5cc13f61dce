"""Run a published program as a reader would: alone, in an empty folder, with the packages of the bare environment."""

import ast
import atexit
import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PACKAGES = {"torch", "triton", "numpy", "matplotlib"}
# A program may use these where they are installed, and says so where they are not.
GUARDED = {"flash_attn", "liger_kernel"}
SAYS = {"cuda": re.compile(r"\bcuda\b", re.IGNORECASE), "sm_90": re.compile(r"\bsm_90\b|\b9\.0\b")}
SAYS |= {"2 gpus": re.compile(r"\b2 gpus\b")}


SWITCH = re.compile(r"""^if .*not torch\.cuda\.is_available\(\):\n    os\.environ\["TRITON_INTERPRET"\] = "1\"""", re.MULTILINE)
TRITON = re.compile(r"^ *(?:import|from) (?:triton|kernels)\b", re.MULTILINE)


class Run(NamedTuple):
    status: int
    output: list[str]


@functools.cache
def warm_python(interpreter: bool) -> subprocess.Popen[str]:
    """A Python of the bare environment that runs programs, without a GPU in sight, with the interpreter on or not yet."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TRITON_", "MPL", "PYTEST"))}
    command = [os.environ.get("BARE_PYTHON") or sys.executable, "-I", str(Path(__file__).with_name("warm_python.py"))]
    command += ["triton"] if interpreter else []
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = subprocess.Popen(command, env=own | {"CUDA_VISIBLE_DEVICES": ""}, **pipes)
    atexit.register(started.kill)
    return started


def turns_interpreter_on(text: str) -> bool:
    """Whether a program does so before it imports Triton. It then finds that imported, which saves a quarter of a second."""
    switch, triton = SWITCH.search(text), TRITON.search(text)
    return switch is not None and (triton is None or switch.start() < triton.start())


def run(program: Path, folder: Path, seconds: float = 120, library: Path | None = None) -> Run:
    """Run on a CPU; a GPU, where there is one, stays out of sight. `library` is a folder that `kernels` was installed into."""
    output = folder.with_name(f"{folder.name}.output")
    asked = {"program": str(program), "folder": str(folder), "output": str(output), "seconds": seconds}
    asked["environment"] = {"TRITON_CACHE_DIR": str(folder / "triton")}
    asked["library"] = str(library) if library else ""
    python = warm_python(turns_interpreter_on(program.read_text(encoding="utf-8")))
    print(json.dumps(asked), file=python.stdin, flush=True)
    status = json.loads(python.stdout.readline())
    if status is None:
        return Run(-1, [f"it did not end within {seconds} s"])
    return Run(status, [line for line in output.read_text(encoding="utf-8").splitlines() if line.strip()])


def verdict(text: str, needs: str, done: Run) -> list[str]:
    """What a reader would complain about."""
    shown = "\n".join(done.output[-15:])
    if needs:
        if done.status != 2:
            return [f"it needs {needs} and exited with status {done.status} on a CPU, not 2:\n{shown}"]
        if len(done.output) != 1 or not SAYS[needs].search(shown):
            return [f"it must say in one line that it needs {needs}:\n{shown}"]
        return []
    if done.status != 0:
        return [f"it exited with status {done.status}:\n{shown}"]
    said = [line for line in done.output if re.search(r"\binterpreter\b(?!\.\w)", line)]
    if imports_triton(text) and not only_defines(text) and len(said) != 1:
        return [f"it must say in one line that the interpreter runs its kernels:\n{shown}"]
    return []


def only_defines(text: str) -> bool:
    """Whether a file has functions for other programs and runs none of them itself."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    body = [node for node in ast.parse(text).body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    defined = any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in body)
    return defined and all(isinstance(node, kinds) for node in body)


def imported(text: str) -> set[str]:
    """The packages that a program imports, in whatever place."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else (node.module or "").partition(".")[0])
    return found


def imports_triton(text: str) -> bool:
    return "triton" in imported(text)


def foreign_imports(text: str) -> list[str]:
    """Imports that the bare environment does not have."""
    return sorted(imported(text) - PACKAGES - GUARDED - set(sys.stdlib_module_names))


def needs_of(text: str) -> str:
    """What the program's header says that it needs beyond a CPU."""
    found = re.search(r"^# needs: (.*)$", text, re.MULTILINE)
    return found.group(1).strip() if found else ""
