"""What a mask is: a block of true and false, here written out for every program."""
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


# --8<-- [start:edge]
@triton.jit
def edge_kernel(out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    mask = pid * BLOCK + lanes < n_elements
    tl.store(out_ptr + pid * BLOCK + lanes, mask)  # every lane of out exists


device = "cuda" if torch.cuda.is_available() else "cpu"
exists = torch.empty(3, 4, dtype=torch.bool, device=device)
edge_kernel[(3,)](exists, 10, BLOCK=4)
for pid in range(3):
    print(f"program {pid}:", exists[pid].tolist())
    #> program 0: [True, True, True, True]
    #> program 1: [True, True, True, True]
    #> program 2: [True, True, False, False]
# --8<-- [end:edge]
assert exists.sum() == 10
