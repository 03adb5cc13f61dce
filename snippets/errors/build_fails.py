"""Triton builds a small C module, the compiler is there, and what it needs is not."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.errors import error_of_program

# --8<-- [start:wrong]
PROGRAM = """
import re
import subprocess
import sys
from triton.runtime import build


def check_call(command, **_):  # as subprocess has it, and what the C compiler says is kept
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reason = re.search(r"fatal error: .*|cannot find \\S+\\w", done.stderr)[0]
        sys.exit(f"{reason}\\n  subprocess.CalledProcessError: Command … returned non-zero exit status {done.returncode}.")


build.subprocess.check_call = check_call
"""
headers = """
build.sysconfig.get_paths = lambda **_: {"include": "nowhere"}  # the mistake: no header files of Python
build.compile_module_from_src("#include <Python.h>", "cuda_utils")
"""
said = error_of_program(PROGRAM + headers, TRITON_CACHE_DIR="cache")
# --8<-- [end:wrong]
print(said)

# --8<-- [start:wrong_library]
library = """
build.compile_module_from_src("int four = 4;", "cuda_utils", libraries=["libcuda.so.0"])  # the mistake
"""
said = error_of_program(PROGRAM + library, TRITON_CACHE_DIR="cache")
# --8<-- [end:wrong_library]
print(said)

# --8<-- [start:right]
import sysconfig
from pathlib import Path

print(Path(sysconfig.get_paths()["include"], "Python.h").exists())
#> True
# --8<-- [end:right]
