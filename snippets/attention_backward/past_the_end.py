"""What goes wrong behind the last key: it was loaded as zero, and its weight is not."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:past]
@triton.jit
def past_the_end_kernel(
    q_ptr, k_ptr, lse_ptr, dq_ptr, length, MASK: tl.constexpr, SIDE: tl.constexpr
):
    side = tl.arange(0, SIDE)
    is_key = side < length
    rows = side[:, None] * SIDE + side[None, :]
    q = tl.load(q_ptr + rows, mask=is_key[:, None], other=0.0)
    k = tl.load(k_ptr + rows, mask=is_key[:, None], other=0.0)
    lse = tl.load(lse_ptr + side, mask=is_key, other=float("inf"))
    p = tl.exp(tl.dot(q, k.T) - lse[:, None])
    if MASK:
        p = tl.where(is_key[None, :], p, 0.0)
    # The gradient of p is taken as 1 here, and delta as 0.
    tl.store(dq_ptr + rows, tl.dot(p.to(k.dtype), k), mask=is_key[:, None])


device = "cuda" if torch.cuda.is_available() else "cpu"
length, side = 10, 16
dq = torch.empty(side, side, device=device)
k = torch.ones(side, side, device=device).half()
for fits in (-0.25, -2.0):  # every query fits every key badly, then very badly
    q = torch.full((side, side), fits, device=device).half()
    lse = (q[:length] @ k[:length].T).float().logsumexp(-1)
    for mask in (False, True):
        past_the_end_kernel[(1,)](q, k, lse, dq, length, MASK=mask, SIDE=side)
        print(f"lse {lse[0]:.1f}, {'masked' if mask else 'as it is'}: {dq[0, 0]:.2f}")
        #> lse -1.7, as it is: 1.00
        #> lse -1.7, masked: 1.00
        #> lse -29.7, as it is: nan
        #> lse -29.7, masked: 1.00
# --8<-- [end:past]
