"""Turn the pairs of one head's numbers by the angles of their positions."""
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


# --8<-- [start:kernel]
@triton.jit
def turn_kernel(
    x_ptr, cos_ptr, sin_ptr, out_ptr, HALF: tl.constexpr, BACK: tl.constexpr
):
    # This program owns one token's vector of 2 * HALF numbers.
    token = tl.program_id(0).to(tl.int64)
    pairs = tl.arange(0, HALF)  # [HALF]
    cos = tl.load(cos_ptr + token * HALF + pairs)  # [HALF]
    sin = tl.load(sin_ptr + token * HALF + pairs)  # [HALF]
    if BACK:
        sin = -sin
    x_ptrs = x_ptr + token * 2 * HALF + pairs
    first, second = tl.load(x_ptrs), tl.load(x_ptrs + HALF)  # [HALF] each
    out_ptrs = out_ptr + token * 2 * HALF + pairs
    tl.store(out_ptrs, first * cos - second * sin)
    tl.store(out_ptrs + HALF, second * cos + first * sin)
# --8<-- [end:kernel]


# --8<-- [start:launch]
def turn(x, cos, sin, back=False):
    out = torch.empty_like(x)
    turn_kernel[(len(x),)](x, cos, sin, out, HALF=x.shape[1] // 2, BACK=back)
    return out


device = "cuda" if torch.cuda.is_available() else "cpu"
positions = torch.arange(40, device=device)
frequencies = 100.0 ** -torch.linspace(0, 1, 8, device=device)
angles = torch.outer(positions, frequencies)  # [40, 8]
cos, sin = angles.cos(), angles.sin()

x = torch.randn(40, 16, device=device)
there = turn(x, cos, sin)
torch.testing.assert_close(there.norm(dim=1), x.norm(dim=1))
torch.testing.assert_close(turn(there, cos, sin, back=True), x)
print("no length changes, and the way back leads back")
#> no length changes, and the way back leads back
# --8<-- [end:launch]
