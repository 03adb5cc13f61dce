"""A GPU that is newer than the assembler."""
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
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime import JITFunction


@triton.jit
def double_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))


types = {"x_ptr": "*fp32", "y_ptr": "*fp32", "BLOCK": "constexpr"}
source = ASTSource(JITFunction(double_kernel.fn), types, {(2,): 128})
newer = GPUTarget("cuda", 110, 32)  # the mistake
said = error_of(lambda: triton.compile(source, target=newer))
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
import re
import subprocess

from triton.backends.nvidia.compiler import get_ptxas


def known_to_ptxas(capability):
    """The kinds of GPU that the assembler for this compute capability knows."""
    asked = subprocess.run([get_ptxas(capability).path, "--help"], capture_output=True, text=True)
    return sorted(set(re.findall(r"sm_\d+", asked.stdout)))


print("sm_90" in known_to_ptxas(90), "sm_999" in known_to_ptxas(999))
#> True False
# --8<-- [end:right]
