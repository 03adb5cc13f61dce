"""The kernel for the other pairing: neighbor with neighbor."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:interleaved]
import triton
import triton.language as tl


@triton.jit
def turn_neighbors_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, HALF: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    pairs = tl.arange(0, HALF)  # [HALF]
    cos = tl.load(cos_ptr + token * HALF + pairs)  # [HALF]
    sin = tl.load(sin_ptr + token * HALF + pairs)  # [HALF]
    both = token * 2 * HALF + tl.arange(0, 2 * HALF)  # [2 * HALF]
    x = tl.load(x_ptr + both)  # [2 * HALF]
    first, second = tl.split(tl.reshape(x, [HALF, 2]))  # [HALF] each
    out = tl.join(first * cos - second * sin, second * cos + first * sin)
    tl.store(out_ptr + both, tl.reshape(out, [2 * HALF]))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(5, 16, device=device)
angles = torch.randn(5, 8, device=device)
out = torch.empty_like(x)
turn_neighbors_kernel[(5,)](x, angles.cos(), angles.sin(), out, HALF=8)

# A pair of neighbors is a complex number, and turning it is a product.
turned = torch.view_as_complex(x.view(5, 8, 2)) * torch.polar(torch.ones_like(angles), angles)
torch.testing.assert_close(out, torch.view_as_real(turned).flatten(1))
print("neighbors are paired")
#> neighbors are paired
# --8<-- [end:interleaved]
