"""Two products that became possible: of short float32 rows, and onto a float16 accumulator."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only
from kernels.tools.errors import error_of
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:short]
@triton.jit
def short_dot_kernel(out_ptr, K: tl.constexpr):
    a, b = tl.full([16, K], 1, tl.float32), tl.full([K, 16], 1, tl.float32)
    square = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out_ptr + square, tl.dot(a, b))


out = torch.empty(16, 16)
short = error_of(lambda: compile_only(short_dot_kernel, out, K=8))
usual = error_of(lambda: compile_only(short_dot_kernel, out, K=16))
# --8<-- [end:short]
print("K = 8:", short.splitlines()[-1])
print("K = 16:", usual.splitlines()[-1])


# --8<-- [start:half]
@triton.jit
def half_sum_dot_kernel(out_ptr, NAMED: tl.constexpr):
    a, total = tl.full([16, 16], 1, tl.float16), tl.zeros([16, 16], tl.float16)
    square = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    if NAMED:
        total = tl.dot(a, a, total, out_dtype=tl.float16)
    else:
        total = tl.dot(a, a, total)
    tl.store(out_ptr + square, total)


unnamed = error_of(lambda: compile_only(half_sum_dot_kernel, out.half(), NAMED=False))
named = error_of(lambda: compile_only(half_sum_dot_kernel, out.half(), NAMED=True))
# --8<-- [end:half]
print("without out_dtype:", unnamed.splitlines()[0])
print("out_dtype=tl.float16:", named.splitlines()[0])
