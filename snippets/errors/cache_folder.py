"""Triton's cache lies where the program may not write."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.errors import error_of_program

# --8<-- [start:wrong]
program = """
import os
from triton.runtime.cache import get_cache_manager

if os.getuid() == 0:
    os.setuid(65534)  # as a container does that runs its programs for "nobody"
get_cache_manager("00")  # what each compiled kernel is kept by
"""
said = error_of_program(program, HOME="/", TRITON_CACHE_DIR=None, TRITON_HOME=None)  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o777)  # a folder that everybody may write to
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | {"TRITON_CACHE_DIR": f"{folder}/cache"})
print(done.returncode)
#> 0
# --8<-- [end:right]
