"""What the compiler refuses, because the shapes of blocks are fixed when it compiles."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:refused]
@triton.jit
def add_ranges_kernel(out_ptr, A: tl.constexpr, B: tl.constexpr):
    a = tl.arange(0, A)  # [A]
    b = tl.arange(0, B)  # [B]
    tl.store(out_ptr + a, a + b)


device = "cuda" if torch.cuda.is_available() else "cpu"
for sides in ((16, 16), (16, 8), (16, 12)):
    sums = torch.empty(16, dtype=torch.int32, device=device)
    try:
        add_ranges_kernel[(1,)](sums, *sides)
        print(sides, "are added, and the last lane is", sums[-1].item())
        #> (16, 16) are added, and the last lane is 30
    except Exception as error:
        reason = str(error).splitlines()[-1].removeprefix("ValueError")
        print(reason.strip("()'\""))
        #> Cannot make_shape_compatible: incompatible dimensions at index 0: 16 and 8
        #> arange's range must be a power of 2
# --8<-- [end:refused]
