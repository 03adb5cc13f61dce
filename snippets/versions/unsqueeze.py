"""A block with one more dimension, by two names."""
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


# --8<-- [start:names]
@triton.jit
def unsqueeze_kernel(out_ptr):
    row = tl.unsqueeze(tl.arange(0, 16), 0)
    tl.store(out_ptr + row, row)


@triton.jit
def expand_dims_kernel(out_ptr):
    row = tl.expand_dims(tl.arange(0, 16), 0)
    tl.store(out_ptr + row, row)


out = torch.empty(16, dtype=torch.int32)
new = error_of(lambda: compile_only(unsqueeze_kernel, out))
old = error_of(lambda: compile_only(expand_dims_kernel, out))
# --8<-- [end:names]
print("tl.unsqueeze:", new.splitlines()[-1])
print("tl.expand_dims:", old.splitlines()[-1])
