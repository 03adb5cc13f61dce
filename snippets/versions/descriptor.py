"""The same sums with a tensor descriptor, on every Triton."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:after]
@triton.jit
def descriptor_sums_kernel(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M
    desc = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    total = tl.zeros([BLOCK_M], tl.float32)
    for start in range(0, N, BLOCK_N):
        x = desc.load([row, start])  # what lies outside is 0
        total += tl.sum(x, axis=1)
    rows = row + tl.arange(0, BLOCK_M)
    tl.store(y_ptr + rows, total, mask=rows < M)


# On a GPU the kernel writes its descriptors into memory that this function provides.
triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device=device))
x = torch.rand(30, 100, device=device)
y = torch.zeros(30, device=device)
descriptor_sums_kernel[(2,)](x, y, 30, 100, BLOCK_M=16, BLOCK_N=32)
print("right" if torch.allclose(y, x.sum(1)) else "wrong")
#> right
# --8<-- [end:after]
