"""Python's own max of two blocks, which was never meant."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only
from kernels.tools.errors import error_of

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:max]
@triton.jit
def builtin_max_kernel(x_ptr, BUILTIN: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    tl.store(x_ptr + tl.arange(0, 64), max(x, -x) if BUILTIN else tl.maximum(x, -x))


python_s = error_of(lambda: compile_only(builtin_max_kernel, torch.empty(64), BUILTIN=True))
triton_s = error_of(lambda: compile_only(builtin_max_kernel, torch.empty(64), BUILTIN=False))
# --8<-- [end:max]
print("max:", python_s)
print("tl.maximum:", triton_s)
