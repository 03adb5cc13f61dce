"""A softmax of a row that has no element: minus infinity minus itself."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:wrong]
@triton.jit
def masked_softmax_kernel(x_ptr, lengths_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    kept = columns < tl.load(lengths_ptr + row)
    x = tl.load(x_ptr + row * n_columns + columns, mask=kept, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))  # the mistake
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * n_columns + columns, y, mask=columns < n_columns)


x = torch.randn(3, 6, device=device)
lengths = torch.tensor([6, 0, 3], device=device)
y = torch.empty_like(x)
said = error_of(lambda: masked_softmax_kernel[(3,)](x, lengths, y, 6, BLOCK=8))
print(y.isnan().any(dim=1).tolist())
#> [False, True, False]
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def masked_softmax_kernel(x_ptr, lengths_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    kept = columns < tl.load(lengths_ptr + row)
    x = tl.load(x_ptr + row * n_columns + columns, mask=kept, other=-float("inf"))
    largest = tl.max(x, axis=0)
    numerator = tl.exp(x - tl.where(largest == -float("inf"), 0.0, largest))
    total = tl.sum(numerator, axis=0)
    y = numerator / tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + row * n_columns + columns, y, mask=columns < n_columns)


masked_softmax_kernel[(3,)](x, lengths, y, 6, BLOCK=8)
kept = torch.arange(6, device=device) < lengths[:, None]
expected = torch.softmax(x.masked_fill(~kept, -float("inf")), dim=1)
print("PyTorch:", expected.isnan().any(dim=1).tolist())
#> PyTorch: [False, True, False]
print(torch.allclose(y, expected.nan_to_num(0.0)))
#> True
# --8<-- [end:right]
