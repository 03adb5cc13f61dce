"""Let every program write its own number, to see which elements are whose."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:owners]
@triton.jit
def owner_kernel(out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, pid, mask=offsets < n_elements)


device = "cuda" if torch.cuda.is_available() else "cpu"
owner = torch.full((1000,), -1, device=device)
owner_kernel[(4,)](owner, 1000, BLOCK=256)
for pid in range(4):
    mine = (owner == pid).nonzero()
    print(f"program {pid}: elements {mine.min()} to {mine.max()}")
    #> program 0: elements 0 to 255
    #> program 1: elements 256 to 511
    #> program 2: elements 512 to 767
    #> program 3: elements 768 to 999
# --8<-- [end:owners]
