"""Run every program that needs no GPU in the built runtime, in Node, and keep what came of it: docs/baked/cpu/runtime.

    python runtime/measure.py               all programs, which takes minutes
    python runtime/measure.py --stale       nothing where the record is of today's code; else only the programs that have changed,
                                            or all where the runtime itself has
    python runtime/measure.py 'masking/*'   try some, print what came of them, and keep nothing

Where `make site` has laid the runtime into `site/`, two browsers run a program of it as a reader does, and the record keeps how
long that took: let nothing else run on the machine meanwhile.

A program counts as the same if it prints the lines that its record of docs/baked/cpu has. Any other one must stand in
exceptions.tsv with its reason. `make runtime` and scripts/prepare.py come first.
"""

import argparse
import fnmatch
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from runtime import build
from scripts import ROOT
from scripts.pages import run_here
from scripts.provenance import programs, records, sources
from scripts.provenance.environment import environment
from scripts.provenance.follow import Code

PROGRAMS = ROOT / "docs" / "programs"
EXCEPTIONS = Path(__file__).with_name("exceptions.tsv")
LIMIT = 30.0  # seconds of the processor, as the page gives them
PATIENCE = 120.0  # seconds on the clock, for a machine that has other work
STOPPED = "Stopped"
NO_NVCC = "skipped: the CUDA C++ build of"
RUNS = 50  # of one worker, as in the page
VISIT = ROOT / "tests" / "browser" / "visit.mjs"
BROWSERS = {"Chromium": ("chrome", ("chromium", "google-chrome")), "Firefox": ("firefox", ("firefox-esr", "firefox"))}
VISITED = ("course/first-kernel/", "first_kernel/owners")
VISITS = 3  # of which the middle one is kept


class Worker:
    """The runtime in a process of its own, ended where a program does not end."""

    def __init__(self, folder: Path):
        command = ["node", str(Path(__file__).with_name("in_node.mjs")), str(folder)]
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.read()
        self.start_seconds, self.runs = time.perf_counter() - begun, 0

    def read(self) -> dict[str, Any]:
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        return (
            json.loads(line)
            if line
            else {"out": [], "done": {"error": {"type": STOPPED, "message": "it did not end"}}, "seconds": PATIENCE}
        )

    def ask(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        self.runs += 1
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(json.dumps({"kind": kind, "request": request}) + "\n")  # type: ignore[union-attr]
            self.process.stdin.flush()  # type: ignore[union-attr]
            answer = self.read()
            if answer["done"]["error"] and answer["done"]["error"]["type"] == STOPPED:
                self.process.wait()
            return answer
        finally:
            timer.cancel()

    def is_worn(self) -> bool:
        return self.runs >= RUNS or self.process.poll() is not None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def needing_no_gpu() -> dict[str, list[str]]:
    """The programs that run anywhere, and what each printed on the real interpreter."""
    found = {}
    for name in programs.snippet_names():
        if not programs.needs_of(name):
            found[name] = records.read(records.record_path("cpu", "program", name))["output"]
    return found


def exceptions() -> dict[str, str]:
    """Programs that do not print the same, and why."""
    lines = EXCEPTIONS.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))


def counting(lines: list[str]) -> list[str]:
    """The lines that count: none that are empty, and none that say there is no nvcc, which the records were made beside."""
    return [line for line in lines if line.strip() and not line.startswith(NO_NVCC)]


def printed(answer: dict[str, Any]) -> list[str]:
    return counting([line for text in answer["out"] for line in text.splitlines()])


def difference(answer: dict[str, Any], expected: list[str]) -> str:
    """What is not as it should be, in a line; nothing where all is."""
    if error := answer["done"]["error"]:
        return f"{error['type']}: {error['message']}"[:300]
    lines = printed(answer)
    expected = counting(expected)
    if lines == expected:
        return ""
    pairs = [*zip(lines, expected, strict=False)]
    return next(
        (f"printed {ours!r}, expected {theirs!r}" for ours, theirs in pairs if ours != theirs), "printed more or fewer lines"
    )


def measure(names: dict[str, list[str]], folder: Path) -> tuple[dict[str, dict[str, Any]], list[float]]:
    """What came of each program, and how long each worker took to start. A run is warm: the worker has run others before."""
    found, starts, worker = {}, [], None
    for name, expected in names.items():
        if worker is None or worker.is_worn():
            if worker:
                worker.end()
            worker = Worker(folder)
            starts.append(worker.start_seconds)
        source = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
        answer = worker.ask("run", {"source": source, "name": name, "record": False})
        took, wrong = answer["seconds"], difference(answer, expected)
        wrong = wrong or ("" if took <= LIMIT else f"takes more than {LIMIT:.0f} s")
        found[name] = {"same": not wrong, "seconds": round(took, 2)}
        print(f"{name}: {wrong or 'same'} ({took:.1f} s)", flush=True)
    if worker:
        worker.end()
    return found, starts


def sizes(folder: Path) -> dict[str, int]:
    """The bytes of each file that is served."""
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return {name: file["bytes"] for name, file in told["files"].items()}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def visited() -> dict[str, dict[str, Any]]:
    """How long a reader waits in each browser that is installed, in seconds; nothing where no built site has the runtime."""
    folder = build.built()
    if not folder or not (ROOT / "site" / "run" / folder.name).is_dir():
        print("no site with this runtime in it (make site): the times of browsers are left out")
        return {}
    subprocess.run(["npm", "ci", "--silent", "--prefix", str(VISIT.parent)], check=True)
    found: dict[str, dict[str, Any]] = {}
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=ROOT / "site")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/{VISITED[0]}"
        for name, (engine, commands) in BROWSERS.items():
            if executable := next(filter(None, map(shutil.which, commands)), None):
                command = ["node", str(VISIT), engine, executable, address, VISITED[1], "10"]
                visits = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(VISITS)]
                told = [json.loads(visit) for visit in visits]
                waits = {
                    part: round(statistics.median(one[part]["seconds"] for one in told), 2)
                    for part in ("cold", "warm", "again", "ready")
                }
                version = subprocess.run([executable, "--version"], capture_output=True, text=True).stdout.split()
                found[name] = {"version": next((word for word in version if word[0].isdigit()), ""), **waits}
                print(f"{name}: {waits}")
        server.shutdown()
    return found


def waits(code: Code) -> dict[str, Any]:
    """The times of browsers: those of the record, if they are of this runtime, else measured now."""
    known = run_here.read() if run_here.RECORD.exists() else {}
    if known.get("browsers") and known["hash"] == sources.digest_of("runtime", "programs", code):
        return {name: known[name] for name in ("browsers", "cores")}
    return {"browsers": visited(), "cores": os.cpu_count()}


def keep(found: dict[str, dict[str, Any]], starts: list[float], folder: Path, code: Code) -> None:
    """Write the record, if every program that differs has its reason and no other one has."""
    reasons, differing = exceptions(), {name for name, one in found.items() if not one["same"]}
    if unexplained := sorted(differing - reasons.keys()):
        raise records.RecordError(f"no reason in {EXCEPTIONS.name} for {', '.join(unexplained)}; nothing was kept")
    if idle := sorted(reasons.keys() - differing):
        raise records.RecordError(f"the same after all, and still in {EXCEPTIONS.name}: {', '.join(idle)}; nothing was kept")
    versions = {name: build.LOCK[name]["version"] for name in ("pyodide", "numpy", "triton")}
    record = {
        "schema": records.SCHEMA,
        "kind": "runtime",
        "name": "programs",
        "hash": sources.digest_of("runtime", "programs", code),
        "environment": environment(cpu=True),
        "versions": versions,
        "bytes": sizes(folder),
        **waits(code),
        "start_seconds": round(statistics.median(starts), 2) if starts else run_here.read()["start_seconds"],
        "programs": {name: {**one, "hash": sources.digest_of("program", name, code)} for name, one in sorted(found.items())},
    }
    records.write(run_here.RECORD, record)


def stale(names: dict[str, list[str]], code: Code) -> tuple[dict[str, list[str]], dict[str, dict[str, Any]]]:
    """The programs to run, and what is known of the others."""
    if not run_here.RECORD.exists() or run_here.read()["hash"] != sources.digest_of("runtime", "programs", code):
        return names, {}
    known = run_here.measured()
    fresh = {name for name in known.keys() & names if known[name]["hash"] == sources.digest_of("program", name, code)}
    kept = {name: {key: known[name][key] for key in ("same", "seconds")} for name in fresh}
    return {name: output for name, output in names.items() if name not in fresh}, kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", help="only programs whose name matches, and keep nothing")
    parser.add_argument("--stale", action="store_true", help="only what has no record of today's code")
    asked = parser.parse_args()
    folder = build.built()
    if not folder:
        print("There is no runtime of today's code: run make runtime", file=sys.stderr)
        return 1
    code, names = Code(), needing_no_gpu()
    known: dict[str, dict[str, Any]] = {}
    if asked.pattern:
        names = {name: output for name, output in names.items() if fnmatch.fnmatch(name, asked.pattern)}
    elif asked.stale:
        names, known = stale(names, code)
        if not names and known.keys() == run_here.measured().keys() and sizes(folder) == run_here.read()["bytes"]:
            return 0
    found, starts = measure(names, folder)
    same = sum(one["same"] for one in found.values())
    print(f"{same} of {len(found)} print the same")
    if not asked.pattern:
        try:
            keep({**known, **found}, starts, folder, code)
        except records.RecordError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
