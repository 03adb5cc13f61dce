"""What goes wrong when a loop's variable is used after the loop."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


# --8<-- [start:loop_variable]
@triton.jit
def last_start_kernel(out_ptr, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        tl.store(out_ptr, start)
    tl.store(out_ptr + 1, start)  # the mistake: the loop is over


out = torch.full((2,), -1, dtype=torch.int32, device="cuda")
compiled = last_start_kernel[(1,)](out, 1000, BLOCK=128)
print(f"stored in the loop: {out[0].item()}, stored after it: {out[1].item()}")
for line in compiled.asm["ttir"].splitlines():
    if "poison" in line:
        print(line.split(" loc(")[0].strip())
# --8<-- [end:loop_variable]
