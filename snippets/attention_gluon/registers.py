"""Registers by role: what the assembler makes of one kernel as the warps that compute take more of the registers, or fewer."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import re
import subprocess
import tempfile

import torch
from triton.backends.nvidia.compiler import get_ptxas
from triton.runtime import driver

from kernels.tools.benchmark import keep
from kernels.tools.compile_only import NoGPU
from snippets.attention_gluon.persistent import persistent_kernel, persistent_launch

SHARES = {"by_role": (240, 24), "between": (200, 104), "even": (168, 168)}  # for warps that compute, and for those that load


def assembled(ptx):
    """Bytes that a thread spills to memory, and whether the assembler makes each product wait for the one before."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        command = [get_ptxas(90).path, "-arch=sm_90a", "-v", file.name, "-o", os.devnull]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return int(re.findall(r"(\d+) bytes spill stores", said)[0]), "wgmma.mma_async instructions are serialized" in said


if __name__ == "__main__":
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
        print("No Hopper GPU found: the kernel is compiled for one and not run. Gluon has no interpreter.")
        driver.set_active(NoGPU())
    figures = {}
    q, k, v = torch.empty(3, 4, 512, 128, dtype=torch.bfloat16)
    for name, registers in SHARES.items():
        _, arguments, options = persistent_launch(q, k, v, True, registers=registers)
        made = persistent_kernel.warmup(*arguments, **options)
        asked = sorted(set(map(int, re.findall(r"setmaxnreg\S+\s+(\d+)", made.asm["ptx"]))))
        spilled, serialized = assembled(made.asm["ptx"])
        print(f"{name:8} setmaxnreg: {asked}, bytes spilled: {spilled}, products wait for each other: {serialized}")
        figures[name] = {"compute": registers[0], "load": registers[1], "spilled": spilled, "serialized": serialized}
    keep(figures=figures)
