"""Programs under the profiler and the sanitizers: hardware counters from Nsight Compute, findings of Compute Sanitizer."""

import csv
import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from scripts.recording.verdicts import SUMMARY

LIMIT_SECONDS = 900
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
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_turns",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "shared_load_conflicts",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_percent",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue_percent",
    # Two names of the tensor cores' share of time; the larger counts.
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": "tensor_percent",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active": "tensor_percent",
}
STALLS = "long_scoreboard short_scoreboard barrier membar math_pipe_throttle mio_throttle lg_throttle wait gmma sleeping"
STALLED = {f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio": reason for reason in STALLS.split()}
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
ALONE = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}  # every tensor gets an allocation of its own

Variables = dict[str, str]


def counters(path: Path, part: str, also: list[str], variables: Variables) -> list[dict[str, Any]]:
    """Run one part of a program under Nsight Compute and read the hardware's counters for each kernel it launched."""
    if not shutil.which("ncu"):
        raise RuntimeError("Nsight Compute (ncu) is not on the PATH, and this program's record wants hardware counters")
    result = watched(path, part, [*COUNTERS, *also], variables)
    if result.returncode != 0 and also:  # once more without what this profiler does not know, then without all of it
        known = [metric for metric in also if metric not in result.stdout + result.stderr]
        result = watched(path, part, [*COUNTERS, *known], variables) if len(known) < len(also) else result
        result = watched(path, part, list(COUNTERS), variables) if result.returncode != 0 else result
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


def watched(path: Path, part: str, metrics: list[str], variables: Variables) -> subprocess.CompletedProcess[str]:
    """Run one part of a program under Nsight Compute, at the clocks that the GPU chooses itself."""
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    command += ["--profile-from-start", "off", "--metrics", ",".join(metrics), sys.executable, str(path), part]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=LIMIT_SECONDS)


def sanitizer_command(tool: str) -> list[str]:
    command = ["compute-sanitizer", "--tool", tool, "--target-processes", "all", "--print-limit", "2"]
    return [*command, "--show-backtrace", "no", "--report-api-errors", "no"]


def sanitizer(path: Path, tool: str, part: list[str], variables: Variables) -> dict[str, Any]:
    """Run a program, or one part of it, under Compute Sanitizer and keep what it found, without what varies.

    PyTorch hands out parts of larger pieces of memory, whose ends the tool cannot see, so every tensor gets an
    allocation of its own. A program that the tool stops may end as it likes; the plain run has ended well.
    """
    if tool not in SANITIZERS:
        raise RuntimeError(f"no tool {tool!r} of Compute Sanitizer is known here, only {', '.join(SANITIZERS)}")
    if not shutil.which("compute-sanitizer"):
        raise RuntimeError("Compute Sanitizer (compute-sanitizer) is not on the PATH, and this program's record wants it")
    command = [*sanitizer_command(tool), sys.executable, str(path), *part]
    variables = variables | ALONE
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
