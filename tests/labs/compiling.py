"""Compile what a lab's cells launch, for sm_90, without a GPU: python -m tests.labs.compiling NAME solved|unsolved

Triton compiles each launch of the checker's cases as it would on that GPU, and stops before it would run it. The last line
printed is a list with one entry a check: the task, how many launches were compiled, and what the checker says of an error.
"""

import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from kernels.labs import TASKS
from kernels.labs.diagnose.errors import explain
from scripts.provenance import labs

SHARED_BYTES = 232_448  # of an sm_90
launches: list[str] = []


class Compiled:
    """What stands in a launcher's place: it notes that there is a binary to launch."""

    def __init__(self, source: Any, metadata: Any):
        self.name = metadata.name

    def __call__(self, *_: Any) -> None:
        launches.append(self.name)


class Driver:
    """As much of a driver as a launch asks before anything runs."""

    launcher_cls = Compiled
    utils = SimpleNamespace(
        load_binary=lambda *_: (1, 1, 32, 0, 1024),
        get_device_properties=lambda _: {"max_shared_mem": SHARED_BYTES, "multiprocessor_count": 132, "warpSize": 32},
    )

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_benchmarker(self) -> Any:
        return lambda call, quantiles: [call() or 1.0] * 3  # autotuning compiles every configuration

    def map_python_to_cpp_type(self, name: str) -> str:
        return name


def compiled(fn: Any, task: str, expected: Any = None) -> None:
    """In the place of `check`: what the reader's function launches for each case, or the error at the first."""
    before, said = len(launches), ""
    for case in TASKS[task].cases("cpu"):
        inputs = [value.as_subclass(torch.Tensor) for value in case.inputs.values()]
        try:
            fn(*inputs, case.out)
        except Exception as error:
            said = explain(error)
            break
    found.append([task, len(launches) - before, said])


if __name__ == "__main__":
    name, kind = sys.argv[1:]
    driver.set_active(Driver())
    found: list[list[Any]] = []
    namespace = {"torch": torch, "triton": triton, "tl": tl, "device": "cuda", "check": compiled, "__name__": "lab"}
    with tempfile.TemporaryDirectory() as folder:
        for number, cell in enumerate(labs.version(labs.cells_of(name), kind == "solved")):
            if not cell.markdown and cell.tag in ("exercise", "check"):
                path = Path(folder) / f"cell_{number}.py"
                path.write_text(cell.text + "\n", encoding="utf-8")
                exec(compile(cell.text + "\n", str(path), "exec"), namespace)
    print(json.dumps(found))
