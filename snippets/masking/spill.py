"""A store without a mask: the numbers of another tensor change, and nothing says so."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:spill]
@triton.jit
def spill_double_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets))  # the mistake


device = "cuda" if torch.cuda.is_available() else "cpu"
memory = torch.ones(20, device=device)
x, neighbor = memory[:10], memory[10:]
spill_double_kernel[(3,)](x, BLOCK=4)
print("x:       ", x.tolist())
#> x:        [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
print("neighbor:", neighbor.tolist())
#> neighbor: [2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
# --8<-- [end:spill]
assert neighbor[0] == 2, "the mistake this program shows did not happen"
