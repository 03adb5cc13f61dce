"""The exercise's solution: log-sum-exp of rows of any length needs one walk only."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:logsumexp]
@triton.jit
def logsumexp_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    m = -float("inf")
    s = 0.0
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=-float("inf"))
        x = x.to(tl.float32)
        new_m = tl.maximum(m, tl.max(x, axis=0))
        shift = tl.where(new_m == -float("inf"), 0.0, new_m)
        s = s * tl.exp(m - shift) + tl.sum(tl.exp(x - shift), axis=0)
        m = new_m
    tl.store(out_ptr + row, m + tl.log(s))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = 50 * torch.randn(20, 5000, device=device)
x[3] = -torch.inf
out = torch.empty(20, device=device)
logsumexp_kernel[(20,)](x, out, 5000, BLOCK=1024)
torch.testing.assert_close(out, torch.logsumexp(x, dim=-1))
print("the same as torch.logsumexp, a row of minus infinity included")
#> the same as torch.logsumexp, a row of minus infinity included
# --8<-- [end:logsumexp]
