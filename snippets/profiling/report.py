"""Nsight Compute's whole report on one launch, as text."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import os
import re
import shutil
import subprocess

from kernels.tools.benchmark import keep
from snippets.profiling.beside import under_the_profiler
from snippets.profiling.columns import add_columns

if sys.argv[1:]:  # the child that is watched
    x = torch.randn(4096, 32768, device="cuda")
    under_the_profiler(lambda: add_columns(x))
if not shutil.which("ncu"):
    print("needs: ncu, Nsight Compute's command line, on the PATH")
    sys.exit(2)

# --8<-- [start:command]
command = ["ncu", "--clock-control", "none", "--set", "full", "--page", "details"]
command += ["--print-details", "all", "--profile-from-start", "off"]
done = subprocess.run([*command, sys.executable, __file__, "child"], capture_output=True, text=True)
text = re.sub(r"(?m)^==PROF==.*\n", "", done.stdout)
# --8<-- [end:command]
assert done.returncode == 0 and "add_columns_kernel" in text, done.stdout[-2000:] + done.stderr[-2000:]
text = re.sub(r"\[\d+\] .*(?=\n)", "", text).replace(os.path.dirname(os.path.abspath(__file__)), "")
head, *parts = re.split(r"(?m)^    Section: ", text)
sections = {part.partition("\n")[0].strip(): part.partition("\n")[2].rstrip() for part in parts}
keep(figures={"sections": sections, "nsys": bool(shutil.which("nsys"))})
print(text.strip()[:280_000])
