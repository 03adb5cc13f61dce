"""A matrix of more than 2^31 elements, its rows found with 32 bits and with 64."""
# needs: cuda
# sanitizer: memcheck alone
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


# --8<-- [start:overflow_read]
@triton.jit
def first_column_kernel(x_ptr, out_ptr, stride, WIDE: tl.constexpr):
    row = tl.program_id(0)
    start = row.to(tl.int64) * stride if WIDE else row * stride
    tl.store(out_ptr + row, tl.load(x_ptr + start))


before = 0 if sys.argv[1:] == ["alone"] else 2**31
size = before + 45_000 * 50_000
memory = torch.full((size,), 2, dtype=torch.int8, device="cuda")
x = memory[before:].view(45_000, 50_000).fill_(1)  # ones, and twos before
for wide in (True, False):
    out = torch.zeros(45_000, dtype=torch.int8, device="cuda")
    first_column_kernel[(45_000,)](x, out, 50_000, WIDE=wide)
    wrong = (out != 1).nonzero().flatten()
    print(f"64 bits {wide}: {len(wrong)} rows wrong, the first {wrong[:1].tolist()}")
# --8<-- [end:overflow_read]
assert len(wrong) > 0, "the mistake this program shows did not happen"
