"""The same sum of many rows twice: by atomic additions, and by partial sums."""
# needs: cuda
# --8<-- [start:imports]
import sys

import torch
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:repeat]
import triton
import triton.language as tl

from kernels.norm import layer_norm


@triton.jit
def add_rows_kernel(dy_ptr, dbias_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    dy = tl.load(dy_ptr + row * n_columns + columns, mask=mask, other=0.0)
    tl.atomic_add(dbias_ptr + columns, dy, mask=mask)


x, dy = torch.randn(2, 20_000, 1000, device="cuda")
bias = torch.zeros(1000, device="cuda", requires_grad=True)
sums, gradients = [], []
for _ in range(2):
    sums.append(torch.zeros(1000, device="cuda"))
    add_rows_kernel[(20_000,)](dy, sums[-1], 1000, BLOCK=1024)
    gradients += torch.autograd.grad(layer_norm(x, None, bias), bias, dy)
same = {"atomic additions": torch.equal(*sums), "partial sums": torch.equal(*gradients)}
for name, value in same.items():
    print(f"{name}: the same bits twice: {value}")
# --8<-- [end:repeat]
assert same["partial sums"]
