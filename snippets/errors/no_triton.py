"""The environment has torch, and no Triton."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.errors import error_of_program

# --8<-- [start:wrong]
program = """
import sys

sys.path = [place for place in sys.path if "site-packages" not in place]  # as if nothing were installed
import triton  # the mistake
"""
said = error_of_program(program, PYTHONPATH=None)
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
from importlib.util import find_spec

print("this Python has Triton:", find_spec("triton") is not None)
#> this Python has Triton: True
# --8<-- [end:right]
