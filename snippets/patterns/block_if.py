"""What goes wrong when a program branches on a block: the compiler refuses. A branch on one number is fine."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:block_if]
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompilationError
from triton.runtime.jit import JITFunction


def on_a_block(x_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    if x > 0:  # the mistake: 16 answers, and one program can only go one way
        tl.store(x_ptr + offsets, 2 * x)


def on_a_number(x_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    if tl.program_id(0) > 0:  # one answer for the whole program
        tl.store(x_ptr + offsets, 2 * x)


def per_element(x_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    tl.store(x_ptr + offsets, 2 * x, mask=x > 0)  # each lane its own answer


for kernel in (on_a_block, on_a_number, per_element):
    source = ASTSource(fn=JITFunction(kernel), signature={"x_ptr": "*fp32"})
    try:
        triton.compile(source, target=GPUTarget("cuda", 90, 32))
        print(f"{kernel.__name__}: compiles")
    except CompilationError as error:
        print(f"{kernel.__name__}: {error.__cause__}")
# --8<-- [end:block_if]
