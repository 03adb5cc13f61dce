"""How each record is made: a program, a lab or a recording in a process of its own, kernels compiled all at once."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts import compile as compiler
from scripts.baking import profile
from scripts.baking.gate import NO_MEMORY
from scripts.baking.sampling import Sampling
from scripts.baking.work import Work, launches, measures
from scripts.launches import SPECIMENS, VIEWED
from scripts.provenance import programs
from scripts.provenance.environment import primary_machine, rivals, several_machine
from scripts.provenance.follow import Code
from scripts.provenance.inline import inline
from scripts.recording.run import recorded

MUTANTS = 14  # changed kernels that are tried at the same time on one GPU
SLOWER = 4  # so many times as long as on the cards that the pages show may a program take on another


class CannotRun(Exception):
    """This card is not one that the program runs on: it lacks what the program needs, or has no room for it."""


class Runs:
    """Makes the contents of records on this machine. `asked` is all that will be asked for, so that kernels compile together;
    `lent` is a folder with a newer Triton than the one installed, for what only that has."""

    def __init__(self, cpu: bool, asked: list[Work], machine: str, lent: str = ""):
        self.cpu, self.asked, self.lent, self.limit = cpu, asked, lent, limit_on(machine)
        self.compiling = threading.Lock()
        self.figures: dict[str, list[dict[str, Any]]] = {}

    def make(self, work: Work, gpu: str) -> dict[str, Any]:
        """What the record of a piece of work holds beside its head."""
        make = {"program": self.program, "lab": self.lab, "compiled": self.compiled, "layout": self.layout, "trace": self.trace}
        make |= {"gallery": self.gallery, "mutants": self.mutants, "finished": self.finished}
        own = variables(self.cpu, gpu) | ({"BLOCKWISE_TRITON": self.lent} if self.lent else {})
        if work.triton:
            own["PYTHONPATH"] = os.pathsep.join((self.lent, own["PYTHONPATH"]))
        return make[work.kind](work, own, gpu)

    def program(self, work: Work, variables: dict[str, str], gpu: str) -> dict[str, Any]:
        """Run the program as it is published, and keep what it printed and measured, and what was seen of the GPU meanwhile."""
        name, code = work.short, Code()
        with tempfile.TemporaryDirectory() as folder:
            path, measured = Path(folder) / f"{name.rpartition('/')[2]}.py", Path(folder) / "measured.json"
            text = inline(name, code)
            path.write_text(text, encoding="utf-8")
            began = time.monotonic()
            watch = Sampling(gpu) if not self.cpu and measures(work, code) else None
            if watch:
                watch.__enter__()
            try:
                own = variables | {"BLOCKWISE_RECORD": str(measured)}
                output = ended_well([sys.executable, str(path)], folder, own, self.limit)
            finally:
                if watch:
                    watch.__exit__()
            output = without_places(output, folder)
            record: dict[str, Any] = {"status": 0, "output": output.splitlines()}
            if measured.exists():
                record |= json.loads(measured.read_text())
            if watch and watch.summary:
                record["during"] = watch.summary
            if not self.cpu:
                record["rivals"] = rivals(text) | ({"triton": work.triton} if work.triton else {})
                record |= self.watched(name, path, variables)
            record["seconds"] = round(time.monotonic() - began, 1)  # the next bake plans by it, so all that watched it counts
        return record

    def watched(self, name: str, path: Path, variables: dict[str, str]) -> dict[str, Any]:
        """What the program's header asks to be counted and checked."""
        record: dict[str, Any] = {}
        if asked := programs.header(name, "counters"):
            also = [*profile.ALSO, *profile.STALLED] if programs.header(name, "counters-also") else []
            record["counters"] = [row for part in asked.split() for row in profile.counters(path, part, also, variables)]
        if asked := programs.header(name, "sanitizer"):
            tool, *part = asked.split()
            record["sanitizer"] = profile.sanitizer(path, tool, part, variables)
        if asked := programs.header(name, "sanitizers"):
            with ThreadPoolExecutor(len(profile.SANITIZERS)) as pool:  # beside each other: they count, and time nothing
                watching = partial(profile.sanitizer, path, part=[], variables=variables)
                record["sanitizers"] = list(pool.map(watching, asked.split()))
        return record

    def lab(self, work: Work, variables: dict[str, str], _: str) -> dict[str, Any]:
        """Run one lab, solved, and keep what each cell printed. A check that fails fails the lab."""
        found = kept_by(["labs.py", "--run", work.short], variables)
        return {"seconds": found["seconds"], "cells": found["kept"]}

    def finished(self, work: Work, variables: dict[str, str], _: str) -> dict[str, Any]:
        """How many tests of each part the capstone's finished version passes here. One that fails fails it."""
        found = kept_by(["finished.py", work.short], variables)
        return {"seconds": found["seconds"], **found["kept"]}

    def gallery(self, work: Work, variables: dict[str, str], _: str) -> dict[str, Any]:
        """What every tool that needs a GPU says of one broken kernel and of its mend."""
        found = kept_by(["gallery.py", work.short, "--triton", self.lent], variables)
        return {"seconds": found["seconds"], "cells": found["kept"]}

    def mutants(self, work: Work, variables: dict[str, str], _: str) -> dict[str, Any]:
        """The score of changes to kernels in Gluon that a lot draws. Some never end, so each has a process of its own."""
        found = kept_by(["mutate.py", work.short, "--jobs", str(min(MUTANTS, os.cpu_count() or 1))], variables)
        return {"seconds": found["seconds"], **found["kept"]}

    def compiled(self, work: Work, *_: Any) -> dict[str, Any]:
        """The figures of one kernel; the first that is asked for has all compiled, by processes that start once."""
        with self.compiling:
            if not self.figures:
                wanted = {other.short for other in self.asked if other.kind == "compiled"}
                targets = list(compiler.TARGETS) if self.cpu else [compiler.this_gpu()]
                names = [specimen.name for specimen in SPECIMENS if specimen.function in wanted]
                for entry in compiler.compile_all(targets, names):
                    self.figures.setdefault(entry["specimen"].split("/")[0], []).append(entry)
        found = self.figures[work.short]
        if failed := [f"{entry['specimen']} for {entry['target']}: {entry['error']}" for entry in found if "error" in entry]:
            raise RuntimeError("; ".join(failed))
        return {"specimens": found}

    def layout(self, work: Work, *_: Any) -> dict[str, Any]:
        """The compiler's text of one launch, in the form in which it gives elements to threads, without places in the source."""
        target = VIEWED[work.short]
        lines = compiler.text(work.short, target, "ttgir").splitlines()
        kept = [re.sub(r" loc\([^()]*(\([^()]*\))?\)", "", line) for line in lines if not line.startswith("#loc")]
        return {"target": target, "launch": launches()[work.short], "ttgir": kept}

    def trace(self, work: Work, *_: Any) -> dict[str, Any]:
        return recorded(work.short)


def triton_in(folder: str) -> str:
    """The version of the Triton in this folder, or of the one that is installed if none is given; nothing where there is none."""
    command = [sys.executable, "-c", "import triton; print(triton.__version__, triton.__file__)"]
    said = subprocess.run(command, env=os.environ | {"PYTHONPATH": folder}, capture_output=True, text=True).stdout
    version, _, place = said.strip().partition(" ")
    return version if not folder or Path(place).is_relative_to(folder) else ""


def kept_by(command: list[str], variables: dict[str, str]) -> dict[str, Any]:
    """What a script of this project keeps in the file that `--keep` names, and how long it took."""
    with tempfile.TemporaryDirectory() as folder:
        path, began = Path(folder) / "kept.json", time.monotonic()
        script, *arguments = command
        ended_well([sys.executable, str(ROOT / "scripts" / script), *arguments, "--keep", str(path)], folder, variables)
        return {"seconds": round(time.monotonic() - began, 1), "kept": json.loads(path.read_text(encoding="utf-8"))}


def without_places(output: str, folder: str) -> str:
    """What a program printed, without where its file, temporary ones and packages lay on this machine."""
    output = output.replace(f"{folder}/", "…/").replace(f"{tempfile.gettempdir()}/tmp", "…/tmp")
    output = re.sub(r"\btmp[a-z0-9_]{8}\b", "tmp…", output)
    return re.sub(r"(?:/[\w.+-]+)+/site-packages/", "…/", output)


def limit_on(machine: str) -> int:
    """How many seconds a program may take on a machine."""
    is_shown = machine in ("cpu", primary_machine(), several_machine())
    return profile.LIMIT_SECONDS * (1 if is_shown else SLOWER)


def ended_well(command: list[str], folder: str, variables: dict[str, str], limit: int = profile.LIMIT_SECONDS) -> str:
    """What a command prints; an error with its last words where it fails."""
    try:
        result = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"was stopped, because it was not done after {limit} seconds") from None
    if reason := not_for_this_card(result):
        raise CannotRun(reason)
    if result.returncode != 0:
        said = f"{result.stderr[-2000:].strip()}\n{result.stdout[-1000:]}".strip()
        raise RuntimeError(f"ended with status {result.returncode}\n{said}")
    return result.stdout


def not_for_this_card(result: subprocess.CompletedProcess[str]) -> str:
    """What a program lacks here, if that is why it ended: its own words, or that the memory ran out. A GPU as such is there."""
    said = result.stdout.strip().splitlines()
    if result.returncode == 2 and said and said[-1].startswith("needs: ") and not said[-1].startswith("needs: cuda"):
        return said[-1]
    if result.returncode != 0 and re.search(NO_MEMORY, result.stderr):
        return "the card's memory ran out"
    return ""


def variables(cpu: bool, gpu: str) -> dict[str, str]:
    """The environment of a child: the checkout importable, and the interpreter on only where it is asked for."""
    kept = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    kept |= {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))}
    # The coming default of triton, set here so that every version compiles alike.
    kept |= {"TRITON_DEFAULT_FP_FUSION": "1", "PYTHONUNBUFFERED": "1"}
    if cpu:
        return kept | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    return kept | {"CUDA_VISIBLE_DEVICES": gpu}
