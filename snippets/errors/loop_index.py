"""The variable of a loop, used after the loop."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def last_start_kernel(out_ptr, n_elements, BLOCK: tl.constexpr):
    for start in range(0, n_elements, BLOCK):
        tl.store(out_ptr, start)
    tl.store(out_ptr + 1, start)  # the mistake


out = torch.zeros(2, dtype=torch.int32, device=device)
last_start_kernel[(1,)](out, 1000, BLOCK=128)
# --8<-- [end:wrong]
print("in the loop and after it:", out.tolist())


# --8<-- [start:right]
@triton.jit
def last_start_kernel(out_ptr, n_elements, BLOCK: tl.constexpr):
    for start in range(0, n_elements, BLOCK):
        tl.store(out_ptr, start)
    tl.store(out_ptr + 1, (tl.cdiv(n_elements, BLOCK) - 1) * BLOCK)


last_start_kernel[(1,)](out, 1000, BLOCK=128)
print(out.tolist())
#> [896, 896]
# --8<-- [end:right]
