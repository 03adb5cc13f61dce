"""tl.topk with a k that is not a power of two."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only
from kernels.tools.errors import error_of

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:five]
@triton.jit
def largest_five_kernel(x_ptr, out_ptr, LENGTH: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    largest = tl.topk(x, 5)
    tl.static_assert(largest.shape[0] == LENGTH)
    tl.store(out_ptr + tl.arange(0, LENGTH), largest)


x = torch.rand(16)
said = {}
for length in (4, 5, 8):
    said[length] = error_of(lambda length=length: compile_only(largest_five_kernel, x, x, LENGTH=length))
# --8<-- [end:five]
came = [length for length, words in said.items() if words == "no error"]
print(f"asked for five, got {came[0]}" if came else next(line for line in said[5].splitlines() if line.startswith("topk")))
