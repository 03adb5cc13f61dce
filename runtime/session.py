"""What the worker calls: run a program, run a lab, each time as if Python had just been started.

    from runtime import session
    session.run('{"source": "print(1)", "name": "first_kernel/launch", "record": false}')
    session.lab('{"lab": "elementwise", "cells": ["..."], "upto": 0}')

Both take and return JSON; README.md says what stands in it. What a program prints goes to sys.stdout and sys.stderr as it comes.
Importing this starts Triton's interpreter on the stand-ins, and needs them on the path.
"""

import start  # isort: skip  the stand-ins' own, before anything imports triton

import contextlib
import gc
import json
import linecache
import os
import shutil
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runtime import clean, errors, labs, launches

# What programs import that no run before them has: the archive takes these modules along.
ALSO = ("triton.experimental.gluon", "triton.language.extra.libdevice", "triton.testing", "triton.tools.tensor_descriptor")
MOST_PROGRAMS = 64
MOST_EVENTS = 4000
FOLDER = Path(tempfile.gettempdir()) / "run"


@contextlib.contextmanager
def fresh():
    """An empty working folder, and Python, torch and Triton as they were before the first run."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    linecache.clearcache()
    before = os.getcwd()
    os.chdir(FOLDER)
    try:
        with clean.put_back(FOLDER), start.closed_door():
            yield FOLDER
    finally:
        os.chdir(before)


def execute(path: Path, namespace: dict[str, Any], source: str) -> dict[str, Any] | None:
    """Run a text as the file `path`, and say which error it ended with, if any."""
    path.write_text(source, encoding="utf-8")  # Triton asks for the source of a kernel by its file
    try:
        exec(compile(source, str(path), "exec"), namespace)
    except BaseException as error:
        return errors.told(error, str(path))
    return None


def listen(heard: Callable[[str], None]) -> None:
    """Have somebody hear what a run is in, where that takes long."""
    launches.heard = heard


def run(request: str) -> str:
    asked = json.loads(request)
    watched = launches.Launches(
        record=bool(asked.get("record")),
        wanted=asked.get("launch", 0),
        most_programs=asked.get("most_programs", MOST_PROGRAMS),
        most_events=asked.get("most_events", MOST_EVENTS),
    )
    begun = time.perf_counter()
    with fresh() as folder:
        path = folder / f"{Path(asked.get('name') or 'program').name}.py"
        sys.argv = [str(path)]
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        main.__dict__.update(__file__=str(path), __builtins__=__builtins__)
        with watched.attached(str(path)):
            error = execute(path, main.__dict__, asked["source"])
        main.__dict__.clear()
    took = round((time.perf_counter() - begun) * 1e3)
    gc.collect()
    return json.dumps({"error": error, "milliseconds": took, **watched.told()}, ensure_ascii=False)


def lab(request: str) -> str:
    """Run a lab's cells one after another in one namespace; `error` is that of the last cell, `earlier` those before it."""
    asked = json.loads(request)
    begun = time.perf_counter()
    found: list[dict[str, Any] | None] = []
    with fresh() as folder, labs.listening() as verdicts:
        namespace = {"__name__": "lab"}
        sys.modules["lab"] = types.ModuleType("lab")
        for number, cell in enumerate(asked["cells"][: asked["upto"] + 1]):
            labs.at(number)
            error = execute(folder / f"cell_{number}.py", namespace, cell + "\n")
            found.append(error and {"cell": number, **error})
        namespace.clear()
    took = round((time.perf_counter() - begun) * 1e3)
    gc.collect()
    earlier = [error for error in found[:-1] if error]
    told = {"error": found[-1] if found else None, "earlier": earlier, "verdicts": verdicts, "milliseconds": took}
    return json.dumps(told, ensure_ascii=False)


clean.remember()
gc.collect()
gc.freeze()  # what is here now stays; collecting after a run need not look at it
