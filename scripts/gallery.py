"""Ask every tool about every kernel of the gallery, the wrong one and the mended one, and keep what it says for the pages.

    python scripts/gallery.py                       every program of snippets/gallery, with all that this machine can ask
    python scripts/gallery.py --stale               only what has no record of today's code, or one that lacks an answer
    python scripts/gallery.py mask_forgotten        these programs
    python scripts/gallery.py --triton FOLDER       a folder with a Triton from 3.9 on, for its sanitizers (CUDA machines)
    python scripts/gallery.py --pack gallery.tgz    afterwards, put all records of this machine into one archive

Without a GPU it asks the interpreter, the page's runtime (`make runtime` comes first) and the compiler, with a stand-in for an
H200. On a CUDA machine it asks five tests, Triton's debug mode, the four tools of Compute Sanitizer, and, of the Triton in
FOLDER or else of the one installed if that is new enough, ConSan, IISan, GSan and FPSan. One record a program goes to
docs/baked/<machine>/noticed. Programs run beside each other, each for a minute at most.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.baking import archive
from scripts.baking.profile import ALONE, SANITIZERS, sanitizer_command
from scripts.pages.gallery import MODES, ON_CPU, ON_GPU, TOOLS
from scripts.provenance import records, sources
from scripts.provenance.environment import environment, machine_name
from scripts.provenance.inline import inline
from scripts.recording import verdicts
from scripts.recording.verdicts import CANNOT, Ended, Verdict

PROGRAMS = records.ROOT / "snippets" / "gallery"
SECONDS = 60
TESTS = ("own", "odd", "hard", "poison", "again")
VARIANTS = ("wrong", "right")
ASKED = ("odd", "hard")  # what a test without a GPU asks
WATCHED = ("odd", "alone", "blind")  # what a tool that watches is shown
# Why a program that needs a GPU cannot be asked without one: in the interpreter, and in the page.
NO_GPU = {
    "autotune_adds": "nothing is timed there, so nothing is tuned",
    "autotune_key": "nothing is timed there, so nothing is tuned",
    "offset_overflow": "the tensor takes two gibibytes, and the program asks for a GPU",
    "gluon_copy_wait": "Gluon has no interpreter",
    "gluon_barrier_wait": "Gluon has no interpreter",
    "gluon_fence": "Gluon has no interpreter",
}
NO_NEW_TRITON = "needs Triton 3.9, and none was given"


def names() -> list[str]:
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def run(command: list[str], variables: dict[str, str], seconds: float = SECONDS) -> Ended:
    """Run a command in an empty folder, and end it with all that it started where it takes too long."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("TRITON_") or key == "TRITON_CACHE_DIR"}
    own |= {"TRITON_DEFAULT_FP_FUSION": "1", "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(records.ROOT)} | variables
    with tempfile.TemporaryDirectory() as folder:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=folder, env=own, start_new_session=True, **pipes) as process:
            try:
                out, err = process.communicate(timeout=seconds)
                return Ended(process.returncode, out, err)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                return Ended(None, out, err)


def program(name: str, *words: str) -> list[str]:
    return [sys.executable, str(PROGRAMS / f"{name}.py"), *words]


Answers = dict[str, dict[str, Verdict]]  # of each tool, for the wrong kernel and for the right one


def tested(name: str) -> Answers:
    """The tests on a GPU, all of a variant in one process; after a crash each of those left in one of its own."""
    found: Answers = {test: {} for test in TESTS}
    for variant in VARIANTS:
        done = run(program(name, variant, *TESTS), {})
        for test in TESTS:
            if f"\n{test}: " not in f"\n{done.out}" and test != TESTS[0]:
                found[test][variant] = verdicts.of_values(run(program(name, variant, test), {}), test)
            else:
                found[test][variant] = verdicts.of_values(done, test)
    return found


def debugged(name: str) -> Answers:
    """Triton's debug mode, which checks that whole numbers do not overflow."""
    done = {variant: run(program(name, variant, *WATCHED), {"TRITON_DEBUG": "1"}) for variant in VARIANTS}
    return {"debug": {variant: verdicts.of_instrumented(each) for variant, each in done.items()}}


def sanitized(name: str, tool: str) -> Answers:
    """One tool of Compute Sanitizer, with an allocation for each tensor."""
    command = sanitizer_command(tool)
    done = {variant: run([*command, *program(name, variant, *WATCHED)], ALONE) for variant in VARIANTS}
    return {tool: {variant: verdicts.of_sanitizer(each) for variant, each in done.items()}}


def instrumented(name: str, mode: str, triton: str) -> Answers:
    """One of Triton's own sanitizers. GSan brings its memory along; FPSan's answer is whether two runs give the same bits."""
    variables = {"TRITON_INSTRUMENTATION_MODE": mode, "PYTHONPATH": os.pathsep.join(filter(None, [triton, str(records.ROOT)]))}
    if mode == "fpsan":
        runs = [run(program(name, variant, "odd", "blind", "bits"), variables) for variant in (*VARIANTS, "right")]
        wrong, right, again = runs
        return {mode: {"wrong": verdicts.of_bits(wrong, right), "right": verdicts.of_bits(again, right)}}
    found = {}
    for variant in VARIANTS:
        command = program(name, variant, *WATCHED)
        found[variant] = run([command[0], "-m", "triton.tools.gsan", *command[1:]] if mode == "gsan" else command, variables)
    return {mode: {variant: verdicts.of_instrumented(each) for variant, each in found.items()}}


def interpreted(name: str) -> Answers:
    if name in NO_GPU:
        return {"interpreter": dict.fromkeys(VARIANTS, Verdict(CANNOT, NO_GPU[name]))}
    hidden = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = {variant: run(program(name, variant, *ASKED), hidden) for variant in VARIANTS}
    said = {variant: [verdicts.of_values(each, test) for test in ASKED] for variant, each in done.items()}
    return {"interpreter": {variant: verdicts.worst(*each) for variant, each in said.items()}}


def compiled(name: str) -> Answers:
    """The compiler, for an H200 that need not be here."""
    command = [sys.executable, str(records.ROOT / "scripts" / "recording" / "stand_in_run.py")]
    done = {key: run([*command, *program(name, key, *WATCHED)[1:]], {"CUDA_VISIBLE_DEVICES": ""}) for key in VARIANTS}
    return {"compiler": {variant: verdicts.of_compiler(each) for variant, each in done.items()}}


class Page:
    """The page's runtime, which answers one program after another."""

    def __init__(self) -> None:
        from runtime import build
        from runtime.measure import Worker

        folder = build.built()
        if not folder:
            raise records.RecordError("there is no runtime of today's code: run `make runtime`")
        self.start: Callable[[], Any] = lambda: Worker(folder)
        self.worker: Any = None
        self.asking = threading.Lock()  # it answers one at a time

    def ask(self, name: str) -> Answers:
        if name in NO_GPU:
            return {"page": dict.fromkeys(VARIANTS, Verdict(CANNOT, NO_GPU[name]))}
        with self.asking:
            return {"page": {variant: self.answer(name, variant) for variant in VARIANTS}}

    def answer(self, name: str, variant: str) -> Verdict:
        if self.worker is not None and self.worker.is_worn():
            self.end()
        if self.worker is None:
            self.worker = self.start()
        words = [variant, *ASKED, "alone"]
        source = f"import sys; sys.argv += {words}  {inline(f'gallery/{name}')}"  # before its first line, a comment
        return verdicts.of_page(self.worker.ask("run", {"source": source, "name": f"gallery/{name}", "record": False}), ASKED)

    def end(self) -> None:
        if self.worker is not None:
            self.worker.end()
            self.worker = None


def triton_of(folder: str) -> str:
    """The version of Triton that a Python finds with this folder first."""
    command = [sys.executable, "-c", "import triton; print(triton.__version__)"]
    return run(command, {"PYTHONPATH": folder} if folder else {}).out.strip()


def broken(folder: str) -> str:
    """Why the Triton in a folder runs no kernel here with a sanitizer, in its last words; nothing where it does."""
    variables = {"TRITON_INSTRUMENTATION_MODE": MODES[0], "PYTHONPATH": os.pathsep.join([folder, str(records.ROOT)])}
    done = run(program("mask_total", "right", *WATCHED), variables)
    return "" if done.status == 0 else (done.err.strip().splitlines() or ["it said nothing"])[-1]


def has_modes(version: str) -> bool:
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and (int(found[1]), int(found[2])) >= (3, 9)


def beside(asked: list[str], ways: list[Callable[[str], Answers]], jobs: int, done: Callable[[str, Answers], None]) -> None:
    """Every program asked in every way, several at a time; each that has all its answers is handed on at once."""
    found: dict[str, Answers] = {name: {} for name in asked}
    left, counting = dict.fromkeys(asked, len(ways)), threading.Lock()

    def one(job: tuple[str, Callable[[str], Answers]]) -> None:
        name, way = job
        answers = way(name)
        with counting:
            found[name].update(answers)
            left[name] -= 1
            if not left[name]:
                done(name, found[name])

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, [(name, way) for name in asked for way in ways]))


def asked_here(cpu: bool, modes: bool) -> tuple[str, ...]:
    return ON_CPU if cpu else ON_GPU if modes else tuple(tool for tool in ON_GPU if tool not in MODES)


def is_current(machine: str, name: str, wanted: Iterable[str]) -> bool:
    """Whether a machine has a record of today's code with an answer of each of these tools."""
    try:
        record = records.read(records.record_path(machine, "gallery", name))
    except records.RecordError:
        return False
    return sources.is_fresh(record) and set(wanted) <= record["cells"].keys()


def write(machine: str, name: str, answers: Answers, tritons: dict[str, str]) -> None:
    """Keep the answers beside those that a fresh record has of other tools."""
    path = records.record_path(machine, "gallery", name)
    before = records.read(path) if path.exists() else {}
    kept = before["cells"] if before and sources.is_fresh(before) else {}
    new: dict[str, Any] = {}
    for tool, both in answers.items():
        new[tool] = {variant: list(each) for variant, each in both.items()} | {"triton": tritons[tool]}
    every = {**kept, **new}
    cells = {tool: every[tool] for tool in TOOLS if tool in every}
    head = {"schema": records.SCHEMA, "kind": "gallery", "name": name, "hash": sources.digest_of("gallery", name)}
    records.write(path, head | {"environment": environment(machine == "cpu"), "cells": cells})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs of snippets/gallery, without .py")
    parser.add_argument("--stale", action="store_true", help="only what has no record of today's code, or lacks an answer")
    parser.add_argument("--cpu", action="store_true", help="ask what needs no GPU, also where there is one")
    parser.add_argument("--triton", default="", metavar="FOLDER", help="a folder with a Triton from 3.9 on, for its sanitizers")
    parser.add_argument("--jobs", type=int, help="how many programs run at the same time")
    parser.add_argument("--pack", type=Path, metavar="FILE", help="afterwards, put this machine's records into FILE")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(names()):
        print(f"not in the gallery: {', '.join(sorted(unknown))}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    import torch
    import triton

    cpu = arguments.cpu or not torch.cuda.is_available()
    machine = machine_name(cpu)
    folder = str(Path(arguments.triton).resolve()) if arguments.triton else ""
    newest = triton_of(folder) if folder else triton.__version__
    modes = not cpu and has_modes(newest)
    if folder and not has_modes(newest):
        print(f"{folder}: Triton {newest or 'none'}; the sanitizers need 3.9", file=sys.stderr)
        return 2
    if folder and modes and (said := broken(folder)):
        print(f"{folder}: this Triton runs no kernel here: {said}", file=sys.stderr)
        return 2
    if not cpu and not shutil.which("compute-sanitizer"):
        print("Compute Sanitizer (compute-sanitizer) is not on the PATH", file=sys.stderr)
        return 2
    wanted = asked_here(cpu, modes)
    asked = arguments.names or names()
    if arguments.stale:
        asked = [name for name in asked if not is_current(machine, name, wanted)]
    if not cpu and not modes:
        print(f"{', '.join(MODES)}: {NO_NEW_TRITON} (--triton FOLDER)", file=sys.stderr)
    tritons = {tool: newest if tool in MODES else triton.__version__ for tool in TOOLS}
    began = time.monotonic()

    def keep(name: str, answers: Answers) -> None:
        write(machine, name, answers, tritons)
        print(f"{time.monotonic() - began:5.0f} s  {name}", flush=True)

    if cpu and asked:
        page = Page()
        try:
            beside(asked, [interpreted, compiled, page.ask], arguments.jobs or 1, keep)
        finally:
            page.end()
    elif asked:
        ways: list[Callable[[str], Answers]] = [tested, debugged]
        ways += [partial(sanitized, tool=tool) for tool in SANITIZERS]
        ways += [partial(instrumented, mode=mode, triton=folder) for mode in MODES if modes]
        beside(asked, ways, arguments.jobs or max(1, (os.cpu_count() or 2) - 2), keep)
    print(f"done: {len(asked)} records of {machine}")
    if arguments.pack:
        print(f"packed {archive.pack(machine, arguments.pack)} records into {arguments.pack.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
