"""Add two vectors with a Triton kernel, and check the result against PyTorch."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def vector_add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    out = x + y
    tl.store(out_ptr + offsets, out, mask=mask)
# --8<-- [end:kernel]


if __name__ == "__main__":
    # --8<-- [start:launch]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.rand(1000, device=device)
    y = torch.rand(1000, device=device)
    out = torch.empty_like(x)

    grid = (triton.cdiv(1000, 256),)
    print("programs:", grid[0])
    #> programs: 4

    vector_add_kernel[grid](x, y, out, 1000, BLOCK=256)
    print("same as PyTorch:", torch.equal(out, x + y))
    #> same as PyTorch: True
    # --8<-- [end:launch]
