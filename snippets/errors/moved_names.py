"""Names that Triton had once."""
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
def old_product():
    from triton.ops import matmul  # the mistake

    return matmul


said = error_of(old_product)
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_attributes]
def old_attributes():
    from triton.compiler.compiler import AttrsDescriptor

    return AttrsDescriptor


said = error_of(old_attributes)
# --8<-- [end:wrong_attributes]
print(said.partition(" (")[0])  # behind it stands where your Triton is installed


# --8<-- [start:right]
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime import JITFunction


@triton.jit
def double_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))


types = {"x_ptr": "*fp32", "y_ptr": "*fp32", "BLOCK": "constexpr"}
divisible = {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}
source = ASTSource(JITFunction(double_kernel.fn), types, {(2,): 1024}, divisible)
compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
print("ld.global.v4" in compiled.asm["ptx"])
#> True
# --8<-- [end:right]
