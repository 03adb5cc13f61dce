"""What becomes of assertions: one that the compiler checks, one that the GPU checks, and where neither is left."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only
from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:assertions]
@triton.jit
def root_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK >= 4, "a block has four lanes at least")
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.device_assert(x >= 0, "a root of a negative number")
    tl.store(y_ptr + offsets, tl.sqrt(x))


x = torch.tensor([4.0, -1.0, 9.0, 16.0], device=device)
y = torch.empty_like(x)
print(error_of(lambda: compile_only(root_kernel, x, y, BLOCK=2)).splitlines()[-1])
#> a block has four lanes at least
for debug in (False, True):
    ptx = compile_only(root_kernel, x, y, BLOCK=4, debug=debug).asm["ptx"]
    print(f"debug={debug}: {'an assertion' if '__assertfail' in ptx else 'no assertion'} in the machine code")
    #> debug=False: no assertion in the machine code
    #> debug=True: an assertion in the machine code
# --8<-- [end:assertions]
