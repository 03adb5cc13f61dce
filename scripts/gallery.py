"""Ask every tool about every kernel of the gallery, the wrong one and the mended one, and keep what it says for the pages.

    python scripts/gallery.py                       every program of snippets/gallery, with all that needs no GPU
    python scripts/gallery.py --stale               only what has no record of today's code
    python scripts/gallery.py mask_forgotten        these programs

That asks the interpreter, the page's runtime (`make runtime` comes first) and the compiler, with a stand-in for an H200. What
needs a GPU is asked by a bake, `python scripts/bake.py --only 'noticed/*' --triton FOLDER`: five tests, Triton's debug mode, the
four tools of Compute Sanitizer, and, of the Triton in FOLDER or else of the one installed if that is new enough, ConSan, IISan,
GSan and FPSan. One record a program goes to docs/baked/<machine>/noticed. There the mended kernel runs first, and tells how long
a run takes beside all others; the wrong one hangs if it has not ended after five times that, and a minute at least.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.baking.profile import ALONE, SANITIZERS, sanitizer_command
from scripts.baking.runs import triton_in
from scripts.pages.gallery import MODES, ON_CPU, TOOLS
from scripts.provenance import records, sources
from scripts.provenance.environment import environment
from scripts.provenance.inline import inline
from scripts.provenance.programs import gallery_names
from scripts.recording import verdicts
from scripts.recording.verdicts import CANNOT, Ended, Verdict

PROGRAMS = records.ROOT / "snippets" / "gallery"
SECONDS = 60
PATIENCE = 300  # seconds for a run that is known to end, on a GPU that others use as well
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
JOBS = 2  # answers about one program that are asked for at the same time


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


def both(ask: Callable[[str, float], Ended]) -> dict[str, Ended]:
    """How a run of each variant ends, given variant and limit in seconds. The mended one sets the limit of the wrong one."""
    began = time.monotonic()
    right = ask("right", PATIENCE)
    limit = max(SECONDS, 5 * (time.monotonic() - began))
    return {"wrong": ask("wrong", limit) if right.status is not None else right, "right": right}


def judged(runs: dict[str, Ended], verdict: Callable[[Ended], Verdict]) -> dict[str, Verdict]:
    """What follows from the runs of both variants: nothing, where the mended one did not end."""
    if runs["right"].status is None:
        return dict.fromkeys(VARIANTS, Verdict(CANNOT, f"the mended kernel did not end within {PATIENCE} seconds"))
    return {variant: verdict(runs[variant]) for variant in VARIANTS}


def tested(name: str) -> Answers:
    """The tests on a GPU, all of a variant in one process; what a crash left out in one of its own."""
    runs = both(lambda variant, limit: run(program(name, variant, *TESTS), {}, limit))
    found = {}
    for test in TESTS:

        def alone(variant: str, limit: float, test: str = test) -> Ended:
            return run(program(name, variant, test), {}, limit)

        is_left_out = test != TESTS[0] and any(f"\n{test}: " not in f"\n{done.out}" for done in runs.values())
        found[test] = judged(both(alone) if is_left_out else runs, partial(verdicts.of_values, situation=test))
    return found


def debugged(name: str) -> Answers:
    """Triton's debug mode, which checks that whole numbers do not overflow."""
    runs = both(lambda variant, limit: run(program(name, variant, *WATCHED), {"TRITON_DEBUG": "1"}, limit))
    return {"debug": judged(runs, verdicts.of_instrumented)}


def sanitized(name: str, tool: str) -> Answers:
    """One tool of Compute Sanitizer, with an allocation for each tensor."""
    command = sanitizer_command(tool)
    runs = both(lambda variant, limit: run([*command, *program(name, variant, *WATCHED)], ALONE, limit))
    return {tool: judged(runs, verdicts.of_sanitizer)}


def instrumented(name: str, mode: str, triton: str) -> Answers:
    """One of Triton's own sanitizers. GSan brings its memory along; FPSan's answer is whether two runs give the same bits."""
    variables = {"TRITON_INSTRUMENTATION_MODE": mode, "PYTHONPATH": os.pathsep.join(filter(None, [triton, str(records.ROOT)]))}
    words = ("odd", "blind", "bits") if mode == "fpsan" else WATCHED
    command = [sys.executable, "-m", "triton.tools.gsan"] if mode == "gsan" else [sys.executable]

    def ask(variant: str, limit: float) -> Ended:
        return run([*command, *program(name, variant, *words)[1:]], variables, limit)

    runs = both(ask)
    if mode != "fpsan":
        return {mode: judged(runs, verdicts.of_instrumented)}
    again = runs | {"right": ask("right", PATIENCE)}
    return {mode: judged(again, lambda done: verdicts.of_bits(done, runs["right"]))}


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

    def ask(self, name: str) -> Answers:
        if name in NO_GPU:
            return {"page": dict.fromkeys(VARIANTS, Verdict(CANNOT, NO_GPU[name]))}
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


def broken(folder: str) -> str:
    """Why the Triton in a folder runs no kernel here with a sanitizer, in its last words; nothing where it does."""
    variables = {"TRITON_INSTRUMENTATION_MODE": MODES[0], "PYTHONPATH": os.pathsep.join([folder, str(records.ROOT)])}
    done = run(program("mask_total", "right", *WATCHED), variables)
    return "" if done.status == 0 else (done.err.strip().splitlines() or ["it said nothing"])[-1]


def has_modes(version: str) -> bool:
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and (int(found[1]), int(found[2])) >= (3, 9)


def asked(name: str, ways: list[Callable[[str], Answers]], jobs: int = 1) -> Answers:
    """What every tool says of a program, by the names of tools in their order."""
    with ThreadPoolExecutor(jobs) as pool:
        found = {tool: both for answers in pool.map(lambda way: way(name), ways) for tool, both in answers.items()}
    return {tool: found[tool] for tool in TOOLS if tool in found}


def cells(answers: Answers, tritons: dict[str, str]) -> dict[str, Any]:
    """Answers as a record holds them, each with the version of Triton that gave it."""
    return {
        tool: {variant: list(each) for variant, each in both.items()} | {"triton": tritons[tool]}
        for tool, both in answers.items()
    }


def is_current(name: str) -> bool:
    """Whether there is a record of today's code with every answer that needs no GPU."""
    try:
        record = records.read(records.record_path("cpu", "gallery", name))
    except records.RecordError:
        return False
    return sources.is_fresh(record) and set(ON_CPU) <= record["cells"].keys()


def write(name: str, found: dict[str, Any]) -> None:
    head = {"schema": records.SCHEMA, "kind": "gallery", "name": name, "hash": sources.digest_of("gallery", name)}
    records.write(records.record_path("cpu", "gallery", name), head | {"environment": environment(cpu=True), "cells": found})


def ask_on_gpu(name: str, lent: str) -> dict[str, Any]:
    """The answers of all tools that need a GPU; an exit in words where this machine cannot ask one of them."""
    import triton

    newest = triton_in(lent)
    if not has_modes(newest):
        print(f"needs: triton>=3.9 for its sanitizers; this is {newest or 'none'} (--triton FOLDER lends one)")
        sys.exit(2)
    if not shutil.which("compute-sanitizer"):
        print("needs: compute-sanitizer, which comes with the CUDA toolkit, on the PATH")
        sys.exit(2)
    if said := broken(lent):
        sys.exit(f"{lent or 'the Triton that is installed'} runs no kernel here: {said}")
    ways: list[Callable[[str], Answers]] = [tested, debugged]
    ways += [partial(sanitized, tool=tool) for tool in SANITIZERS]
    ways += [partial(instrumented, mode=mode, triton=lent) for mode in MODES]
    return cells(asked(name, ways, JOBS), {tool: newest if tool in MODES else triton.__version__ for tool in TOOLS})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs of snippets/gallery, without .py")
    parser.add_argument("--stale", action="store_true", help="only what has no record of today's code, or lacks an answer")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="for a bake: ask what needs a GPU of one program, into FILE")
    parser.add_argument("--triton", default="", metavar="FOLDER", help="with --keep: a folder with a Triton from 3.9 on")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(gallery_names()):
        print(f"not in the gallery: {', '.join(sorted(unknown))}; there are {', '.join(gallery_names())}", file=sys.stderr)
        return 2
    if arguments.keep:
        (name,) = arguments.names
        records.write_text(arguments.keep, json.dumps(ask_on_gpu(name, arguments.triton)))
        return 0
    import triton

    due = [name for name in arguments.names or gallery_names() if not (arguments.stale and is_current(name))]
    began, page = time.monotonic(), Page()
    try:
        for name in due:
            write(name, cells(asked(name, [interpreted, compiled, page.ask]), dict.fromkeys(TOOLS, triton.__version__)))
            print(f"{time.monotonic() - began:5.0f} s  {name}", flush=True)
    finally:
        page.end()
    print(f"done: {len(due)} records of cpu")
    return 0


if __name__ == "__main__":
    sys.exit(main())
