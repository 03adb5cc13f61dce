"""The autotuner asks for a GPU's clock, although the interpreter is on."""
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
program = """
import torch
import triton
import triton.language as tl

@triton.autotune([triton.Config({"BLOCK": block}) for block in (64, 128)], key=[])
@triton.jit
def double_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))

double_kernel[lambda meta: (256 // meta["BLOCK"],)](torch.rand(256), torch.empty(256))
"""
said = error_of_program(program, CUDA_VISIBLE_DEVICES="", TRITON_INTERPRET="1")  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
import time


def clock(call, quantiles):
    start = time.perf_counter()
    call()
    return [time.perf_counter() - start] * len(quantiles)


@triton.autotune(
    [triton.Config({"BLOCK": block}) for block in (64, 128)],
    key=[],
    do_bench=None if torch.cuda.is_available() else clock,
)
@triton.jit
def double_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))


x = torch.rand(256, device=device)
y = torch.empty_like(x)
double_kernel[lambda meta: (256 // meta["BLOCK"],)](x, y)
print(torch.equal(y, 2 * x))
#> True
# --8<-- [end:right]
