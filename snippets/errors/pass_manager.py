"""A product of integers that a pass of the compiler cannot translate for an older GPU."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of_program

device = "cuda" if torch.cuda.is_available() else "cpu"

# Of what the program below prints above its traceback, this keeps what counts, and leaves out the kernel in the compiler's form.
SHORT = """
import os
import re
import sys
import tempfile

terminal, kept = os.dup(2), tempfile.TemporaryFile()
os.dup2(kept.fileno(), 2)


def end(kind, error, trace):
    kept.seek(0)
    above = kept.read().decode()
    os.dup2(terminal, 2)
    first = re.search("error: .*?, but got", above)[0]
    place = re.search("Pipeline failed while executing .`[^`]*`", above)[0]
    print(f"{first} …\\n  … {place} …\\n  {kind.__name__}: {error}", file=sys.stderr)


sys.excepthook = end
"""

# --8<-- [start:wrong]
PROGRAM = """
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    lines = tl.arange(0, N)
    places = lines[:, None] * N + lines[None, :]
    a, b = tl.load(a_ptr + places), tl.load(b_ptr + places)
    tl.store(c_ptr + places, tl.dot(a, b))  # the mistake


types = {"a_ptr": "*i8", "b_ptr": "*i8", "c_ptr": "*i32", "N": "constexpr"}
triton.compile(ASTSource(product_kernel, types, {(3,): 32}), target=GPUTarget("cuda", 75, 32))  # a T4
"""
said = error_of_program(SHORT + PROGRAM, TRITON_INTERPRET=None)
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime import JITFunction


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    lines = tl.arange(0, N)
    places = lines[:, None] * N + lines[None, :]
    a, b = tl.load(a_ptr + places).to(tl.float16), tl.load(b_ptr + places).to(tl.float16)
    tl.store(c_ptr + places, tl.dot(a, b))


a, b = (torch.randint(-128, 128, (32, 32), device=device, dtype=torch.int8) for _ in range(2))
c = torch.empty(32, 32, device=device, dtype=torch.int32)
product_kernel[(1,)](a, b, c, N=32)
print(torch.equal(c, (a.double() @ b.double()).int()))
#> True
types = {"a_ptr": "*i8", "b_ptr": "*i8", "c_ptr": "*i32", "N": "constexpr"}
source = ASTSource(JITFunction(product_kernel.fn), types, {(3,): 32})
made = triton.compile(source, target=GPUTarget("cuda", 75, 32))
print("cubin" in made.asm, "mma" in made.asm["ptx"])
#> True False
# --8<-- [end:right]
