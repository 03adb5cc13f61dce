"""Two kernels that move the same bytes: one flips a sign, the other does GELU's arithmetic."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernels]
@triton.jit
def flip_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, -x, mask=mask)


@triton.jit
def bend_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    inner = 1.5957691 * (x + 0.044715 * x * x * x)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-inner)), mask=mask)
# --8<-- [end:kernels]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(100_000, device=device)
out = torch.empty_like(x)
grid = (triton.cdiv(x.numel(), 1024),)

flip_kernel[grid](x, out, x.numel(), BLOCK=1024)
torch.testing.assert_close(out, -x)
bend_kernel[grid](x, out, x.numel(), BLOCK=1024)
expected = torch.nn.functional.gelu(x, approximate="tanh")
torch.testing.assert_close(out, expected)
print(f"each read {x.nbytes:,} bytes and wrote {out.nbytes:,}")
#> each read 400,000 bytes and wrote 400,000
# --8<-- [end:launch]
