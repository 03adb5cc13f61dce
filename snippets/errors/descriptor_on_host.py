"""Views that no descriptor can describe: rows that begin anywhere, and columns that are not side by side."""
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
from triton.tools.tensor_descriptor import TensorDescriptor

x = torch.rand(64, 128, device=device)
narrow = x[:, :30].contiguous()  # a row begins every 120 bytes
views = (narrow, x[:, 1:], x.T, x[:, ::2])
said = [error_of(lambda view=view: TensorDescriptor.from_tensor(view, [32, 32])) for view in views]  # the mistake
# --8<-- [end:wrong]
print("\n".join(said))


# --8<-- [start:right]
@triton.jit
def row_sums_kernel(x_desc, y_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    x = x_desc.load([row, 0])  # columns 30 and 31 lie outside, and are 0
    tl.store(y_ptr + row + tl.arange(0, BLOCK), tl.sum(x, axis=1))


padded = torch.nn.functional.pad(narrow, (0, 2), value=float("nan"))  # a row begins every 128 bytes
narrow_desc = TensorDescriptor(padded, shape=[64, 30], strides=[32, 1], block_shape=[32, 32])
y = torch.empty(64, device=device)
row_sums_kernel[(2,)](narrow_desc, y, BLOCK=32)
print(torch.allclose(y, narrow.sum(1)))
#> True
# --8<-- [end:right]
