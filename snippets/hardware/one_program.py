"""Launch one small kernel, and say what each of its programs is given of the machine."""
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
def amplify_kernel(x_ptr, out_ptr, factor, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)  # from HBM into registers
    louder = x * factor  # within the registers
    tl.store(out_ptr + offsets, louder, mask=mask)  # from registers to HBM
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(1_000_000, device=device)
out = torch.empty_like(x)

BLOCK, num_warps = 1024, 4
grid = (triton.cdiv(x.numel(), BLOCK),)
amplify_kernel[grid](x, out, 3.0, x.numel(), BLOCK=BLOCK, num_warps=num_warps)
print("same as PyTorch:", torch.equal(out, x * 3.0))
#> same as PyTorch: True

threads = num_warps * 32
print(f"{grid[0]} programs of {threads} threads, {BLOCK // threads} lanes for each")
#> 977 programs of 128 threads, 8 lanes for each
# --8<-- [end:launch]
