"""An offset that passes 2^31 in 32 bits, and the same in 64."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:overflow]
@triton.jit
def offset_kernel(out_ptr, row, stride, WIDE: tl.constexpr):
    pid = tl.program_id(0) + row
    if WIDE:
        pid = pid.to(tl.int64)
    tl.store(out_ptr, pid * stride)  # the mistake, unless WIDE


device = "cuda" if torch.cuda.is_available() else "cpu"
offset = torch.empty(1, dtype=torch.int64, device=device)
for row, stride in ((4_000, 5_000), (50_000, 50_000)):
    for wide in (False, True):
        offset_kernel[(1,)](offset, row, stride, WIDE=wide)
        print(f"row {row:6,}, 64 bits {wide!s:5}: offset {offset.item():,}")
        #> row  4,000, 64 bits False: offset 20,000,000
        #> row  4,000, 64 bits True : offset 20,000,000
        #> row 50,000, 64 bits False: offset -1,794,967,296
        #> row 50,000, 64 bits True : offset 2,500,000,000
# --8<-- [end:overflow]
assert offset.item() == 2_500_000_000
