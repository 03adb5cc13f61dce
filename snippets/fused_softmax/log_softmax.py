"""The exercise's solution: the logarithm of softmax, without ever taking the logarithm of a softmax."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:log_softmax]
@triton.jit
def log_softmax_kernel(x_ptr, y_ptr, x_row_stride, y_row_stride, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * x_row_stride + columns, mask=mask, other=-float("inf"))
    shifted = x - tl.max(x, axis=0)
    y = shifted - tl.log(tl.sum(tl.exp(shifted), axis=0))
    tl.store(y_ptr + row * y_row_stride + columns, y, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = 50 * torch.randn(20, 300, device=device)
y = torch.full_like(x, float("nan"))
log_softmax_kernel[(20,)](x, y, x.stride(0), y.stride(0), 300, BLOCK=512)
torch.testing.assert_close(y, torch.log_softmax(x, dim=-1))
print("finite everywhere:", bool(y.isfinite().all()))
#> finite everywhere: True
naive = torch.softmax(x, dim=-1).log()
print("log(softmax) finite everywhere:", bool(naive.isfinite().all()))
#> log(softmax) finite everywhere: False
# --8<-- [end:log_softmax]
