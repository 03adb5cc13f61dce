"""A promise about the mask that is not kept: the compiler takes your word for it."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


# --8<-- [start:false_promise]
@triton.jit
def promised_kernel(out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = tl.max_constancy(offsets < n_elements, 16)  # alike in every 16 lanes
    tl.store(out_ptr + offsets, tl.program_id(0) + 1, mask=mask)


for n_elements in (1008, 1001):
    out = torch.zeros(2048, dtype=torch.int32, device="cuda")
    promised_kernel[(1,)](out, n_elements, BLOCK=1024)
    written = int((out != 0).sum())
    print(f"asked to write {n_elements} elements, wrote {written}")
# --8<-- [end:false_promise]
assert (out != 0).sum() > 1001, "the mistake this program shows did not happen"
