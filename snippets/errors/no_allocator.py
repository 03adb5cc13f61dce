"""A descriptor that a kernel makes for itself, for which nobody has said where its memory comes from."""
# needs: sm_90
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
    print("needs: sm_90 (a GPU of compute capability 9.0, such as an H100 or H200)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.errors import error_of


# --8<-- [start:wrong]
@triton.jit
def described_double_kernel(x_ptr, y_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [ROWS, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    y = tl.make_tensor_descriptor(y_ptr, [ROWS, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    y.store([0, 0], 2 * x.load([0, 0]))


x = torch.rand(16, 64, device="cuda")
y = torch.empty_like(x)
said = error_of(lambda: described_double_kernel[(1,)](x, y, ROWS=16, COLUMNS=64))  # the mistake
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
def memory_for_kernels(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


triton.set_allocator(memory_for_kernels)
described_double_kernel[(1,)](x, y, ROWS=16, COLUMNS=64)
print(torch.equal(y, 2 * x))
# --8<-- [end:right]
