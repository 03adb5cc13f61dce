"""The library's way back: shared heads, a window and a gradient of the log-sum-exp, held against float64."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

# --8<-- [start:check]
from kernels.attention import attention
from kernels.attention.attention import attention_reference


def gradients_of(function, inputs, dout, dlse, **options):
    inputs = [x.detach().requires_grad_() for x in inputs]
    results = function(*inputs, return_lse=True, **options)
    return torch.autograd.grad(results, inputs, (dout, dlse))


device = "cuda" if torch.cuda.is_available() else "cpu"
q, dout = torch.randn(2, 1, 4, 50, 24, device=device)  # four heads of queries
k, v = torch.randn(2, 1, 2, 70, 24, device=device)  # two of keys, and more of them
dlse = torch.randn(1, 4, 50, device=device)
options = {"enable_gqa": True, "is_causal": True, "window": (30, None)}
options |= {"align": "lower_right"}
given = (q, k, v), dout, dlse
found = gradients_of(attention, *given, **options)
again = gradients_of(attention, *given, **options)
doubles = [x.double() for x in (q, k, v)], dout.double(), dlse.double()
right = gradients_of(attention_reference, *doubles, **options)
for ours, once_more, exact in zip(found, again, right, strict=True):
    torch.testing.assert_close(ours.double(), exact, rtol=1e-4, atol=1e-4)
    assert torch.equal(ours, once_more)
print("as in float64, and to the last bit as the first time")
#> as in float64, and to the last bit as the first time
# --8<-- [end:check]
