"""Clocks, power and temperature while a program runs, as the driver tells them, by a process beside it."""

import contextlib
import statistics
import subprocess
from typing import Any

from scripts.provenance.environment import named_for_smi

# A sample every second: seldom enough that nobody waits for it, and a benchmark takes dozens of them.
PERIOD_MS = 1000
FIELDS = {
    "sm_clock_mhz": "clocks.sm",
    "memory_clock_mhz": "clocks.mem",
    "power_w": "power.draw",
    "temperature_c": "temperature.gpu",
}


class Sampling(contextlib.AbstractContextManager):
    """Within it one GPU is asked again and again; afterwards `summary` has the lowest, the middle and the highest answer."""

    def __init__(self, gpu: str):
        self.command = ["nvidia-smi", f"--query-gpu={','.join(FIELDS.values())}", "--format=csv,noheader,nounits"]
        self.command += [f"--id={named_for_smi(gpu)}", f"--loop-ms={PERIOD_MS}"]
        self.summary: dict[str, Any] = {}

    def __enter__(self) -> "Sampling":
        self.child = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.child.terminate()
        self.summary = summarized(self.child.communicate()[0])


def summarized(said: str) -> dict[str, Any]:
    """Each field's lowest, middle and highest value, and how many samples there are; nothing where no line can be read."""
    rows = []
    for line in said.splitlines():
        with contextlib.suppress(ValueError):
            values = [float(field) for field in line.split(",")]
            if len(values) == len(FIELDS):
                rows.append(values)
    if not rows:
        return {}
    columns = zip(*rows, strict=True)
    found = {name: [min(each), statistics.median(each), max(each)] for name, each in zip(FIELDS, columns, strict=True)}
    return {"samples": len(rows)} | found
