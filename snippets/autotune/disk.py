"""What of a choice outlives the process: two processes in each of four settings, one folder a setting."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import json
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kernels.tools.benchmark import keep

CHILD = '''
import sys
import torch
import triton
import triton.language as tl

hook = (lambda arguments: None) if "pre_hook" in sys.argv else None
configs = [triton.Config({"BLOCK": block}, pre_hook=hook) for block in (256, 1024, 4096)]


@triton.autotune(configs, key=["n"], cache_results="cache_results" in sys.argv)
@triton.jit
def kept_double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x * 2, mask=offsets < n)


x = torch.randn(2**24, device="cuda")
y = torch.empty_like(x)
kept_double_kernel[lambda meta: (triton.cdiv(2**24, meta["BLOCK"]),)](x, y, 2**24)
assert torch.equal(y, 2 * x)
'''

# Of each setting: its name in the record, and what the child is told.
SETTINGS = {
    "default": ("default", []),
    "cache_results=True": ("cache_results", ["cache_results"]),
    "TRITON_CACHE_AUTOTUNING=1": ("variable", []),
    "cache_results=True, and a pre_hook": ("hook", ["cache_results", "pre_hook"]),
}


def process(setting, folder, child):
    """Run the child once: how many configurations it timed, and what lies in the folder afterwards."""
    variables = {name: value for name, value in os.environ.items() if name != "TRITON_CACHE_AUTOTUNING"}
    variables |= {"TRITON_CACHE_DIR": str(folder), "TRITON_PRINT_AUTOTUNING": "1"}
    if setting == "TRITON_CACHE_AUTOTUNING=1":
        variables["TRITON_CACHE_AUTOTUNING"] = "1"
    command = [sys.executable, str(child), *SETTINGS[setting][1]]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    timed = len(re.findall(r"^Autotuning kernel", done.stdout, re.MULTILINE))
    binaries, choices = (len(list(folder.rglob(kind))) for kind in ("*.cubin", "*.autotune.json"))
    return {"timed": timed, "binaries": binaries, "choices": choices}


def two_processes(setting):
    """What the first and the second process did in a folder of their own, and the choice that they left."""
    with tempfile.TemporaryDirectory() as name:
        child, folder = Path(name) / "child.py", Path(name) / "cache"
        child.write_text(CHILD)
        done = [process(setting, folder, child) for _ in range(2)]
        left = [(path.name, json.loads(path.read_text())) for path in folder.rglob("*.autotune.json")]
    return done, left[0] if left else None


found, shown = {}, None
with ThreadPoolExecutor(4) as pool:
    for setting, (done, left) in zip(SETTINGS, pool.map(two_processes, SETTINGS), strict=True):
        print(setting)
        for number, row in enumerate(done, 1):
            on_disk = f"on disk: {row['binaries']} compiled kernels, {row['choices']} choices"
            print(f"  process {number}: {row['timed']} configurations timed; {on_disk}")
        found[SETTINGS[setting][0]] = done
        shown = shown or left

if shown:
    print(f"\n{shown[0]} holds")
    print(f"  key: {shown[1]['key']}")
    for config, timings in shown[1]["configs_timings"]:
        options = {name: config[name] for name in ("kwargs", "num_warps", "num_stages")}
        print(f"  {options}: {timings[0] * 1e3:.1f} us")
keep(figures=found)
