"""No mask, and a wrapper that makes sure none is needed."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:even]
@triton.jit
def even_negate_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets))


def even_negate(x, block=256):
    if x.numel() % block:
        wanted = f"a multiple of {block} elements"
        raise ValueError(f"x: expected {wanted}, got {x.numel()}")
    out = torch.empty_like(x)
    even_negate_kernel[(x.numel() // block,)](x, out, BLOCK=block)
    return out


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(1024, device=device)
print("1024 elements:", torch.equal(even_negate(x), -x))
#> 1024 elements: True
try:
    even_negate(x[:1000])
except ValueError as error:
    print(error)
    #> x: expected a multiple of 256 elements, got 1000
# --8<-- [end:even]
