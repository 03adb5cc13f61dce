"""A kernel is made from a string of code."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of, error_of_program

device = "cuda" if torch.cuda.is_available() else "cpu"

# --8<-- [start:wrong]
template = """
@triton.jit
def apply_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, EXPRESSION)
"""
x = torch.rand(128, device=device)
y = torch.empty_like(x)


def make_and_launch():
    names = {"triton": triton, "tl": tl}
    exec(template.replace("EXPRESSION", "2 * x + 1"), names)  # the mistake
    names["apply_kernel"][(1,)](x, y, BLOCK=128)


said = error_of(make_and_launch)
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
import runpy
import tempfile
from pathlib import Path

imports = "import triton\nimport triton.language as tl\n"
path = Path(tempfile.mkdtemp(), "apply_kernel.py")
path.write_text(imports + template.replace("EXPRESSION", "2 * x + 1"))

apply_kernel = runpy.run_path(str(path))["apply_kernel"]
apply_kernel[(1,)](x, y, BLOCK=128)
print(torch.equal(y, 2 * x + 1))
#> True
# --8<-- [end:right]
