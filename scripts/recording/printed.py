"""What programs of snippets/versions print under one version of Triton. scripts/versions.py starts it with that one's Python.

    python scripts/recording/printed.py

A line on standard input holds a program's name as JSON; a line of JSON answers with the lines that it printed, and with how it
ended, where it ended badly. Each runs in a fork of this process, which has loaded torch, but not Triton: a program says itself
whether it wants the interpreter or the compiler. No program sees a GPU.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from scripts.recording.refusals import plain

SECONDS = 120
NO_GPU = "No CUDA device found"


def printed(name: str, folder: str) -> dict[str, Any]:
    """Run a program in this process, which ends afterwards."""
    os.environ["TRITON_CACHE_DIR"] = f"{folder}/cache"
    os.chdir(folder)
    out, ended = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            runpy.run_path(str(ROOT / "snippets" / f"{name}.py"), run_name="__main__")
        except SystemExit as end:
            ended = "" if end.code in (None, 0) else f"status {end.code}"
        except BaseException as error:
            ended = plain("".join(traceback.format_exception_only(error)).strip())
    lines = [line.rstrip() for line in plain(out.getvalue()).splitlines() if not line.startswith(NO_GPU)]
    return {"printed": lines, "ended": ended}


def answer(name: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        child = os.fork()
        if child == 0:
            try:
                import signal

                signal.alarm(SECONDS)
                report.write_text(json.dumps(printed(name, folder)), encoding="utf-8")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        if not report.exists():
            return {"printed": [], "ended": f"no end within {SECONDS} s, or a crash"}
        return json.loads(report.read_text(encoding="utf-8"))


def main() -> None:
    os.environ.pop("TRITON_INTERPRET", None)
    import torch  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
