"""Several blocks under one name: a class of your own, or a tuple."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only
from kernels.tools.errors import error_of

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:class]
def summed_up():
    @triton.aggregate
    class Moments:
        total: tl.tensor
        squares: tl.tensor

    @triton.jit
    def moments_class_kernel(x_ptr, out_ptr):
        x = tl.load(x_ptr + tl.arange(0, 64))
        moments = Moments(tl.sum(x), tl.sum(x * x))
        tl.store(out_ptr, moments.squares - moments.total * moments.total / 64)

    compile_only(moments_class_kernel, torch.empty(64), torch.empty(1))


said = error_of(summed_up)
# --8<-- [end:class]
print("a class:", said.splitlines()[-1])


# --8<-- [start:tuple]
@triton.jit
def moments_of(x):
    return tl.sum(x), tl.sum(x * x)


@triton.jit
def moments_tuple_kernel(x_ptr, out_ptr):
    total, squares = moments_of(tl.load(x_ptr + tl.arange(0, 64)))
    tl.store(out_ptr, squares - total * total / 64)


said = error_of(lambda: compile_only(moments_tuple_kernel, torch.empty(64), torch.empty(1)))
# --8<-- [end:tuple]
print("a tuple:", said.splitlines()[-1])
