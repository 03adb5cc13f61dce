"""The exercise's solution: the multiplication table, made by one program without a loop."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:table]
@triton.jit
def times_table_kernel(out_ptr, SIDE: tl.constexpr):
    i = tl.arange(0, SIDE)  # [SIDE]
    down, across = i[:, None], i[None, :]  # [SIDE, 1], [1, SIDE]
    products = (down + 1) * (across + 1)  # [SIDE, SIDE]
    tl.store(out_ptr + down * SIDE + across, products)


device = "cuda" if torch.cuda.is_available() else "cpu"
table = torch.empty(16, 16, dtype=torch.int32, device=device)
times_table_kernel[(1,)](table, SIDE=16)
print("7 times 8 is", table[6, 7].item())
#> 7 times 8 is 56
# --8<-- [end:table]
assert all(table[i, j] == (i + 1) * (j + 1) for i in range(16) for j in range(16))
