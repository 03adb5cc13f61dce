"""An assertion in a kernel that is false and stops nothing."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def lookup_kernel(table_ptr, index_ptr, y_ptr, n_rows, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offsets)
    tl.device_assert(index < n_rows, "an index beyond the table")
    y = tl.load(table_ptr + index, mask=index < n_rows, other=0.0)
    tl.store(y_ptr + offsets, y)


table, y = torch.rand(4, device=device), torch.empty(4, device=device)
index = torch.tensor([0, 3, 9, 1], device=device)
said = error_of(lambda: lookup_kernel[(1,)](table, index, y, 4, BLOCK=4))  # the mistake
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
index = torch.tensor([0, 3, 2, 1], device=device)
assert index.max() < len(table)  # this one speaks everywhere
lookup_kernel[(1,)](table, index, y, 4, BLOCK=4, debug=True)
print(torch.equal(y, table[index]))
#> True
# --8<-- [end:right]
if torch.cuda.is_available():  # the interpreter compiles nothing
    for debug in (False, True):
        compiled = lookup_kernel[(1,)](table, index, y, 4, BLOCK=4, debug=debug)
        print(f"debug={debug}: asserts {'__assertfail' in compiled.asm['ptx']}")
