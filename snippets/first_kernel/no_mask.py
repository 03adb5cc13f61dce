"""What goes wrong without a mask: the last program writes past the end of its vector."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:no_mask]
@triton.jit
def maskless_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets))


device = "cuda" if torch.cuda.is_available() else "cpu"
memory = torch.ones(1024, device=device)
vector, neighbor = memory[:1000], memory[1000:]
maskless_kernel[(4,)](vector, vector, BLOCK=256)
print("the vector was doubled:", bool((vector == 2).all()))
#> the vector was doubled: True
print("its neighbor too:", bool((neighbor == 2).all()))
#> its neighbor too: True
# --8<-- [end:no_mask]
assert (neighbor == 2).all(), "the mistake this program shows did not happen"
