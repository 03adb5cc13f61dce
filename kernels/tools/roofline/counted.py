"""The bytes that Nsight Compute counts of each kernel, in memory and through the L2 cache."""

import csv
import io
import shutil
import subprocess
import sys

SECTORS, READ, WRITTEN = "lts__t_sectors_srcunit_tex.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"


def counted_bytes(text: str) -> dict[str, dict[str, float]]:
    """From Nsight Compute's table, the bytes of each kernel's last launch, in memory and through the L2 cache."""
    table = "\n".join(line for line in text.splitlines() if line.startswith('"'))
    found = {}
    for row in list(csv.DictReader(io.StringIO(table)))[1:]:  # the first row holds the units
        number = {name: float(row[name].replace(",", "")) for name in (SECTORS, READ, WRITTEN)}
        memory = number[READ] + number[WRITTEN]
        found[row["Kernel Name"].split("(")[0]] = {"memory_bytes": memory, "cache_bytes": 32 * number[SECTORS]}
    return found


def counters(target: str) -> dict[str, dict[str, float]]:
    """Run the target once more under Nsight Compute."""
    if not shutil.which("ncu"):
        raise SystemExit("--counters needs ncu, Nsight Compute's command line, on the PATH")
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--metrics"]
    command += [",".join((SECTORS, READ, WRITTEN)), sys.executable, "-m", "kernels.tools.roofline", target, "--once"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"ncu ended with status {done.returncode}\n{(done.stdout + done.stderr).strip()[-1000:]}")
    return counted_bytes(done.stdout)
