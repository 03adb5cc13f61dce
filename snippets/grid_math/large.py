"""A tensor of more than 2**31 elements, filled with 32-bit and with 64-bit offsets."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


# --8<-- [start:large]
@triton.jit
def fill_ones_kernel(out_ptr, n_elements, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    pid = tl.program_id(0)
    if WIDE:
        pid = pid.to(tl.int64)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 1, mask=offsets < n_elements)


n = 2**31 + 5000
for wide in (False, True):
    memory = torch.zeros(2**31 + n, dtype=torch.int8, device="cuda")
    neighbor, out = memory[: 2**31], memory[2**31 :]
    fill_ones_kernel[(triton.cdiv(n, 1024),)](out, n, BLOCK=1024, WIDE=wide)
    print(f"{'int64' if wide else 'int32'} offsets:")
    print(f"  elements of the tensor missed: {n - out.count_nonzero():,}")
    print(f"  elements in front of it overwritten: {neighbor.count_nonzero():,}")
# --8<-- [end:large]
    del memory, neighbor, out
