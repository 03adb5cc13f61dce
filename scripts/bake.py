"""Run everything the site shows, and keep what came out under docs/baked/<machine>/.

    python scripts/bake.py                  on a CUDA machine: gate, programs, benchmarks, counters, compiler figures, labs
    python scripts/bake.py --cpu            anywhere: the programs under the interpreter, traces, compiler figures, labs
    python scripts/bake.py --only PATTERN   only the work whose name matches, such as 'fused_softmax/*'
    python scripts/bake.py --stale          only what has no record yet, or one older than its code
    python scripts/bake.py --pack FILE      put this machine's records into one archive (after baking)
    python scripts/bake.py --unpack FILE    check an archive and lay its records into this checkout

On a CUDA machine it needs torch, triton and pytest. A bake that dies is resumed by the same command.
"""

import argparse
import csv
import fnmatch
import hashlib
import importlib.util
import io
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts import labs
from scripts.baking import archive
from scripts.provenance import programs, records
from scripts.provenance.environment import environment, machine_name

LIMIT_SECONDS = 900
# How the tools of Compute Sanitizer end what they say; racecheck counts hazards, and calls the certain ones errors.
SUMMARY = r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: \d+ hazards? displayed \()(\d+) errors?(?:$|,)"
COUNTERS = {
    "dram__bytes_read.sum": "dram_read_bytes",
    "dram__bytes_write.sum": "dram_write_bytes",
    "launch__registers_per_thread": "registers",
    "gpu__time_duration.sum": "ns",
}
# What a program asks for by `# counters-also: everything`. A GPU or a profiler may lack some of it: that is left out.
ALSO = {
    "lts__t_bytes.sum": "l2_bytes",
    "lts__t_sector_hit_rate.pct": "l2_hit_percent",
    "l1tex__t_sector_hit_rate.pct": "l1_hit_percent",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_percent",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue_percent",
    # Two names of the tensor cores' share of time; the larger counts.
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": "tensor_percent",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active": "tensor_percent",
}
STALLS = "long_scoreboard short_scoreboard barrier membar math_pipe_throttle mio_throttle lg_throttle wait gmma sleeping"
STALLED = {f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio": reason for reason in STALLS.split()}
# What a test says that lacked memory, where several shared a GPU's.
CROWDED = r"OutOfMemoryError|GB free"
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")


# The name of a piece of work, the files of code it comes from, and what makes its record's contents.
Work = tuple[str, list[str], Callable[[], dict[str, Any]]]


class Bake:
    """One bake of one machine. The journal remembers what is done until all of it is."""

    def __init__(self, cpu: bool, only: str, stale: bool = False):
        self.cpu, self.only, self.stale, self.machine = cpu, only, stale, machine_name(cpu)
        self.journal = records.ROOT / "build" / f"bake-{self.machine}.json"
        self.done: dict[str, str] = json.loads(self.journal.read_text()) if self.journal.exists() else {}
        self.failures: list[str] = []
        self.writing = threading.Lock()
        self.gpus = [""] if cpu else gpus()
        self.here = threading.local()
        self.compiling, self.figures = threading.Lock(), dict[str, list[dict[str, Any]]]()
        self.asked: list[Work] = []

    def run(self) -> int:
        work = [(name, code, action) for name, code, action in self.work() if fnmatch.fnmatch(name, self.only)]
        if not work:
            print(f"nothing that this bake does is called {self.only}", file=sys.stderr)
            return 2
        if self.stale:
            work = [item for item in work if not self.is_current(item[0], item[1])]
        for left_behind in (records.BAKED / self.machine).rglob(".*.part"):
            left_behind.unlink()
        self.asked = work
        # A lab has its own kernels and its own checks, so where nothing but labs is asked for there is no gate to wait for.
        red = set() if all(name.startswith("labs/") for name, _, _ in work) else self.gate()
        titles = {name: f"[{number}/{len(work)}] {name}" for number, (name, _, _) in enumerate(work, 1)}
        beside = [] if self.cpu else [item for item in work if not measures(item[0], item[1])]
        self.share(beside, 8, lambda item: self.step(titles[item[0]], item, red, alone=False))
        alone = [item for item in work if item not in beside]
        self.share(alone, 1, lambda item: self.step(titles[item[0]], item, red, alone=len(self.gpus) == 1))
        if self.failures:
            print(f"{len(self.failures)} of {len(work)} failed; their records are as they were:", *self.failures, sep="\n  ")
            return 1
        self.journal.unlink(missing_ok=True)
        print(f"done: {len(work)} records of {self.machine}")
        return 0

    def share(self, items: list[Any], each: int, action: Callable[[Any], Any]) -> list[Any]:
        """Do something with every item, `each` at a time on each GPU; what it starts sees that GPU alone."""
        free: queue.SimpleQueue[str] = queue.SimpleQueue()
        for gpu in self.gpus * each:
            free.put(gpu)

        def one(item: Any) -> Any:
            self.here.gpu = free.get()
            try:
                return action(item)
            finally:
                free.put(self.here.gpu)

        with ThreadPoolExecutor(len(self.gpus) * min(each, os.cpu_count() or 1)) as pool:
            return list(pool.map(one, items))

    def work(self) -> list[Work]:
        """Everything to do, as (name, files of code, function that returns a record's contents)."""
        from scripts import compile as compiler

        items: list[Work] = []
        for name in programs.snippet_names():
            if not (self.cpu and programs.needs_of(name)):
                items.append((name, [f"snippets/{name}.py"], partial(self.program, name)))
        for name, code in compiler.kernels():
            items.append((f"compiled/{name}", code, partial(self.compiled, name)))
        for name in labs.names():
            items.append((f"labs/{name}", [labs.source(name)], partial(self.lab, name)))
        if self.cpu:
            from scripts import trace

            for name, code in trace.runs():
                items.append((f"traces/{name}", code, partial(trace.record, name)))
        return items

    def step(self, title: str, item: Work, red: set[str], alone: bool = True) -> None:
        name, code, action = item
        if alone:
            print(f"{title} ...", end=" ", flush=True)
        try:
            outcome = self.renew(name, code, action, red)
        except Exception as error:  # whatever goes wrong with one, the others have their turn
            outcome = f"failed: {error}"
            self.failures.append(f"{name}: {error}")
        print(outcome if alone else f"{title} ... {outcome}", flush=True)

    def renew(self, name: str, code: list[str], action: Callable[[], dict[str, Any]], red: set[str]) -> str:
        """Make one record, unless it is done already, and say how that went."""
        now = records.code_hash(code)
        modules = {path.stem for path in records.closure(code) if path.parent == records.ROOT / "kernels"}
        if "*" in red or red & modules:
            tests = ", ".join(sorted(red & modules)) or "every kernel"
            raise records.RecordError(f"no number is written while the tests of {tests} are red")
        kind, short = kind_of(name)
        path = records.record_path(self.machine, kind, short)
        if self.done.get(name) == now and path.exists():
            return "done before the interruption"
        began = time.monotonic()
        contents = action()
        head = {"schema": records.SCHEMA, "kind": kind, "name": short, "code": code, "hash": now}
        records.write(path, head | {"environment": environment(self.cpu)} | contents)
        self.note(name, now)
        return f"{time.monotonic() - began:.1f} s"

    def is_current(self, name: str, code: list[str]) -> bool:
        """Whether this machine has a record of today's code; for a kernel also of today's specimens, for a lab of its cells."""
        path = records.record_path(self.machine, *kind_of(name))
        if not records.is_kept(path, code):
            return False
        record = records.read(path)
        if record["kind"] == "lab":
            return labs.is_of_these_cells(record)
        if record["kind"] == "compiled":
            from scripts.launches import SPECIMENS

            asked = {specimen.name: specimen.launch for specimen in SPECIMENS if specimen.function == record["name"]}
            return {entry["specimen"]: entry["launch"] for entry in record["specimens"]} == asked
        return True

    def note(self, name: str, code: str) -> None:
        """Write into the journal that this is done, for the code of this hash."""
        with self.writing:
            self.done[name] = code
            records.write_text(self.journal, json.dumps(self.done))

    def gate_code(self) -> str:
        """The hash of every file that the gate depends on: the library, its tests, and what they compile."""
        folders = ("kernels", "tests/kernels", "scripts/launches")
        files = [path for folder in folders for path in sorted((records.ROOT / folder).glob("*.py"))]
        return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)).hexdigest()

    def gate(self) -> set[str]:
        """Run the kernels' tests here; return the modules whose tests are red, `*` for all of them."""
        print(f"gate: the tests of kernels on {self.machine} ...", end=" ", flush=True)
        began = time.monotonic()
        now = self.gate_code()
        if self.done.get("gate") == now:
            print("green before the interruption")
            return set()
        with tempfile.TemporaryDirectory() as folder:
            files = sorted((records.ROOT / "tests/kernels").glob("test_*.py"))
            ran = self.share(files, 4, lambda file: self.tested(file, Path(folder) / f"{file.stem}.xml"))
            for number, (file, (_, output)) in enumerate(zip(files, ran, strict=True)):
                if not self.cpu and re.search(CROWDED, output):  # once more, with the GPU's memory to itself
                    ran[number] = self.share([file], 1, lambda file: self.tested(file, Path(folder) / f"{file.stem}.xml"))[0]
        outputs = [output for _, output in ran]
        red = set[str]().union(*(modules for modules, _ in ran))
        if ran and not red:
            passed = sum(int(count) for output in outputs for count in re.findall(r"(\d+) passed", output))
            print(f"green in {time.monotonic() - began:.0f} s: {passed} passed")
            self.note("gate", now)
            return set()
        print("red", *(line for modules, output in ran if modules for line in output.splitlines()[-40:]), sep="\n  ")
        return red or {"*"}

    def tested(self, file: Path, report: Path) -> tuple[set[str], str]:
        """Run one file of tests; return the modules that are red for it, and what pytest said."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file), f"--junitxml={report}"]
        if not self.cpu and self.has_xdist():  # most of their time is spent compiling, one kernel at a time
            command += ["-n", "6", "--dist", "loadgroup"]
        result = subprocess.run(command, cwd=records.ROOT, capture_output=True, text=True, env=self.variables())
        if result.returncode == 0:
            return set(), result.stdout
        # Where pytest is not content and no test is red, none ran.
        return (red_modules(report) if report.exists() else set()) or {"*"}, result.stdout or result.stderr

    def has_xdist(self) -> bool:
        """Whether a test run here will know the options of pytest-xdist."""
        return bool(importlib.util.find_spec("xdist")) and "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ

    def variables(self, **more: str) -> dict[str, str]:
        """The environment of a child: the checkout importable, and the interpreter on only where it is asked for."""
        variables = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"} | more
        variables |= {"PYTHONPATH": os.pathsep.join(filter(None, [str(records.ROOT), os.environ.get("PYTHONPATH", "")]))}
        # The coming default of triton, set here so that every version compiles alike.
        variables |= {"TRITON_DEFAULT_FP_FUSION": "1", "PYTHONUNBUFFERED": "1"}
        if self.cpu:
            return variables | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
        return variables | {"CUDA_VISIBLE_DEVICES": self.here.gpu}

    def program(self, name: str) -> dict[str, Any]:
        """Run one program in a process of its own and keep what it printed and measured."""
        path = programs.snippet_path(name)
        with tempfile.TemporaryDirectory() as folder:
            measured = Path(folder) / "measured.json"
            began = time.monotonic()
            variables = self.variables(BLOCKWISE_RECORD=str(measured))
            result = subprocess.run(
                [sys.executable, str(path)], cwd=folder, env=variables, capture_output=True, text=True, timeout=LIMIT_SECONDS
            )
            if result.returncode != 0:
                raise RuntimeError(f"ended with status {result.returncode}\n" + (result.stderr or result.stdout).strip()[-2000:])
            record: dict[str, Any] = {
                "status": 0,
                "seconds": round(time.monotonic() - began, 1),
                "output": result.stdout.splitlines(),
            }
            if measured.exists():
                record |= json.loads(measured.read_text())
        asked = programs.header(name, "counters")
        if asked and not self.cpu:
            also = [*ALSO, *STALLED] if programs.header(name, "counters-also") else []
            record["counters"] = [row for part in asked.split() for row in self.counters(path, part, also)]
        asked = programs.header(name, "sanitizer")
        if asked and not self.cpu:
            record["sanitizer"] = self.sanitizer(path, *asked.split())
        asked = programs.header(name, "sanitizers")
        if asked and not self.cpu:
            with ThreadPoolExecutor(len(SANITIZERS)) as pool:  # beside each other: they count, and time nothing
                record["sanitizers"] = list(pool.map(partial(self.watching, self.here.gpu, path), asked.split()))
        return record

    def lab(self, name: str) -> dict[str, Any]:
        """Run one lab, solved, in a process of its own and keep what each cell printed. A check that fails fails the lab."""
        with tempfile.TemporaryDirectory() as folder:
            kept, began = Path(folder) / "cells.json", time.monotonic()
            command = [sys.executable, str(records.ROOT / "scripts" / "labs.py"), "--run", name, "--keep", str(kept)]
            result = subprocess.run(
                command, cwd=folder, env=self.variables(), capture_output=True, text=True, timeout=LIMIT_SECONDS
            )
            if result.returncode != 0:
                said = (result.stderr + result.stdout).strip()[-2000:]
                raise RuntimeError(f"the lab ended with status {result.returncode}\n{said}")
            return {"seconds": round(time.monotonic() - began, 1), "cells": json.loads(kept.read_text(encoding="utf-8"))}

    def compiled(self, name: str) -> dict[str, Any]:
        """The figures of one kernel; the first that is asked for has all compiled, by processes that start once."""
        from scripts import compile as compiler

        with self.compiling:
            if not self.figures:
                wanted = {path.removeprefix("compiled/") for path, _, _ in self.asked}
                targets = list(compiler.TARGETS) if self.cpu else [compiler.this_gpu()]
                names = [specimen.name for specimen in compiler.SPECIMENS if specimen.function in wanted]
                for entry in compiler.compile_all(targets, names):
                    self.figures.setdefault(entry["specimen"].split("/")[0], []).append(entry)
        found = self.figures[name]
        if failed := [f"{entry['specimen']} for {entry['target']}: {entry['error']}" for entry in found if "error" in entry]:
            raise RuntimeError("; ".join(failed))
        return {"specimens": found}

    def counters(self, path: Path, part: str, also: list[str]) -> list[dict[str, Any]]:
        """Run one part of a program under Nsight Compute and read the hardware's counters for each kernel it launched."""
        if not shutil.which("ncu"):
            raise RuntimeError("Nsight Compute (ncu) is not on the PATH, and this program's record wants hardware counters")
        result = self.watched(path, part, [*COUNTERS, *also])
        if result.returncode != 0 and also:  # once more without what this profiler does not know, then without all of it
            known = [metric for metric in also if metric not in result.stdout + result.stderr]
            result = self.watched(path, part, [*COUNTERS, *known]) if len(known) < len(also) else result
            result = self.watched(path, part, list(COUNTERS)) if result.returncode != 0 else result
        if result.returncode != 0:
            raise RuntimeError(f"ncu ended with status {result.returncode}\n{(result.stdout + result.stderr).strip()[-2000:]}")
        table = [line for line in result.stdout.splitlines() if line.startswith('"')]
        rows = list(csv.DictReader(io.StringIO("\n".join(table))))[1:]  # the first row holds the units
        found = []
        for row in rows:
            values = {short: float(row[long].replace(",", "")) for long, short in COUNTERS.items()}
            entry: dict[str, Any] = {"implementation": part, "kernel": short_name(row["Kernel Name"])}
            entry |= {key: int(values[key]) for key in ("dram_read_bytes", "dram_write_bytes", "registers")}
            found.append(entry | {"ms": round(values["ns"] / 1e6, 6)} | more_counters(row, also))
        if not found:
            raise RuntimeError(f"ncu saw no kernel in part {part!r}")
        return found

    def watched(self, path: Path, part: str, metrics: list[str]) -> subprocess.CompletedProcess[str]:
        """Run one part of a program under Nsight Compute, at the clocks that the GPU chooses itself."""
        command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
        command += ["--profile-from-start", "off", "--metrics", ",".join(metrics), sys.executable, str(path), part]
        return subprocess.run(command, env=self.variables(), capture_output=True, text=True, timeout=LIMIT_SECONDS)

    def watching(self, gpu: str, path: Path, tool: str) -> dict[str, Any]:
        """Run a program under one tool, from a thread that has not been given a GPU yet."""
        self.here.gpu = gpu
        return self.sanitizer(path, tool)

    def sanitizer(self, path: Path, tool: str, *part: str) -> dict[str, Any]:
        """Run a program, or one part of it, under Compute Sanitizer and keep what it found, without what varies.

        PyTorch hands out parts of larger pieces of memory, whose ends the tool cannot see, so every tensor gets an
        allocation of its own. A program that the tool stops may end as it likes; the plain run has ended well.
        """
        if tool not in SANITIZERS:
            raise RuntimeError(f"no tool {tool!r} of Compute Sanitizer is known here, only {', '.join(SANITIZERS)}")
        if not shutil.which("compute-sanitizer"):
            raise RuntimeError("Compute Sanitizer (compute-sanitizer) is not on the PATH, and this program's record wants it")
        command = ["compute-sanitizer", "--tool", tool, "--target-processes", "all", "--print-limit", "2"]
        command += ["--show-backtrace", "no", "--report-api-errors", "no", sys.executable, str(path), *part]
        variables = self.variables(PYTORCH_NO_CUDA_MEMORY_CACHING="1")
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=LIMIT_SECONDS)
        printed = result.stdout + result.stderr
        found = [steady(line) for line in printed.splitlines() if line.startswith("=========")]
        counts = [int(count) for line in found for count in re.findall(SUMMARY, line)]
        if not counts:
            raise RuntimeError(f"compute-sanitizer told no result\n{printed.strip()[-2000:]}")
        if result.returncode != 0 and not sum(counts):
            raise RuntimeError(f"ended with status {result.returncode} under compute-sanitizer\n{printed.strip()[-2000:]}")
        return {"tool": tool, "part": " ".join(part), "errors": sum(counts), "output": found}


def gpus() -> list[str]:
    """The GPUs of this machine that are of the kind of its first, as CUDA_VISIBLE_DEVICES spells them."""
    import torch

    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    spelled = visible.split(",") if visible else [str(number) for number in range(len(names))]
    return [gpu for gpu, name in zip(spelled, names, strict=False) if name == names[0]]


def kind_of(name: str) -> tuple[str, str]:
    """The kind of a piece of work's record, and its name within that kind."""
    folder, _, rest = name.partition("/")
    return {"compiled": ("compiled", rest), "traces": ("trace", rest), "labs": ("lab", rest)}.get(folder, ("program", name))


def measures(name: str, code: list[str]) -> bool:
    """Whether a piece of work times or counts something, so that nothing else may run beside it."""
    if name.startswith(("compiled/", "labs/")):
        return name.startswith("labs/")  # its checks give times beside PyTorch's
    try:
        return records.ROOT / "kernels" / "benchmark.py" in records.closure(code) or bool(programs.header(name, "counters"))
    except (records.RecordError, SyntaxError):
        return True  # its own turn will say what is wrong with it


def steady(line: str) -> str:
    """A line of Compute Sanitizer without addresses, process numbers, folders and advice."""
    line = re.sub(r"\b0x[0-9a-f]{7,}\b", "0x...", line)
    line = re.sub(r"(?i)\b(process(?: id)?|pid)([ =:]+)\d+", r"\1\2...", line)
    line = re.sub(r"(?<=\s)/(?:[^/:]+/)+", "", line)
    return re.sub(r" Use --print-limit option.*", "", line).rstrip()


def more_counters(row: dict[str, str], also: list[str]) -> dict[str, Any]:
    """What was asked for beyond the usual counters, and is there; the reasons why warps waited, the most frequent first."""
    values = {}
    for metric in also:
        try:
            values[metric] = float(row.get(metric, "").replace(",", ""))
        except ValueError:
            continue  # this GPU does not count it
    found: dict[str, Any] = {}
    for metric, short in ALSO.items():
        if metric in values:
            found[short] = round(max(values[metric], found.get(short, 0.0)), 2)
    stalls = {STALLED[metric]: round(value, 3) for metric, value in values.items() if metric in STALLED}
    return found | ({"stalls": dict(sorted(stalls.items(), key=lambda item: -item[1]))} if stalls else {})


def short_name(kernel: str) -> str:
    """A kernel's name without its namespaces, its template's arguments and its parameters."""
    plain = re.sub(r"^void |<unnamed>::|unnamed>::|\(anonymous namespace\)::|at::native::", "", kernel)
    return re.split(r"[<(]", plain)[0]


def red_modules(report: Path) -> set[str]:
    """The library modules that red test files speak for: tests/kernels/test_softmax.py for softmax and softmax_*."""
    red: set[str] = set()
    modules = {path.stem for path in (records.ROOT / "kernels").glob("*.py")}
    for case in ET.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            subject = case.get("classname", "").split(".test_")[-1].split(".")[0]
            red |= (
                {module for module in modules if module == subject or module.startswith(f"{subject}_")}
                if subject in modules
                else {"*"}
            )
    return red


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="bake what needs no GPU, under Triton's interpreter")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="do only the work whose name matches")
    parser.add_argument("--stale", action="store_true", help="do only what has no record, or one older than its code")
    parser.add_argument("--pack", type=Path, metavar="FILE", help="afterwards, put this machine's records into FILE")
    parser.add_argument("--unpack", type=Path, metavar="FILE", help="bake nothing: check FILE and lay its records in")
    arguments = parser.parse_args()
    try:
        if arguments.unpack:
            print(f"laid in {len(archive.unpack(arguments.unpack))} records")
            return 0
        try:
            import torch
        except ModuleNotFoundError:
            print(f"{sys.executable} has no torch. A bake needs torch, triton, numpy and pytest.", file=sys.stderr)
            return 2
        if not arguments.cpu and not torch.cuda.is_available():
            print(
                "No CUDA device is visible, so no GPU can be measured here. `python scripts/bake.py --cpu` bakes the rest.",
                file=sys.stderr,
            )
            return 2
        status = Bake(arguments.cpu, arguments.only, arguments.stale).run()
        if arguments.pack:
            print(f"packed {archive.pack(machine_name(arguments.cpu), arguments.pack)} records into {arguments.pack.name}")
        return status
    except records.RecordError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
