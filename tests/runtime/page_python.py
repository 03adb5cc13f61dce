"""Ask the page's Python, on CPython: what the browser imports, beside the NumPy of the test environment."""

import atexit
import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from runtime import build

ROOT = build.ROOT
SERVER = Path(__file__).with_name("warm_session.py")


@functools.cache
def process() -> subprocess.Popen[str]:
    folder = tempfile.TemporaryDirectory(prefix="page-python-")
    build.lay_out(Path(folder.name), build.fetch_triton())
    command = [sys.executable, "-I", str(SERVER), folder.name]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(folder.cleanup)
    atexit.register(started.kill)
    return started


def ask(*calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Several calls in one fork, one after another; of each what it gave (`done`) and the lines that it printed (`out`)."""
    server = process()
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
        print(json.dumps({"calls": calls, "file": file.name}), file=server.stdin, flush=True)
        status = json.loads(server.stdout.readline())  # type: ignore[union-attr]
        assert status == 0, "the page's Python ended"
        return json.load(file)


def run(source: str, name: str = "chapter/program", **asked: Any) -> dict[str, Any]:
    (answer,) = ask(("run", {"source": source, "name": name, "record": False, **asked}))
    return answer


def result(source: str) -> Any:
    """What a text leaves as `result`."""
    (answer,) = ask(("text", {"source": source}))
    return answer["done"]
