"""Groups of warps that share nothing, in Gluon: where Triton itself parts them, Compute Sanitizer's racecheck sees a race."""
# needs: sm_90
# sanitizers: racecheck
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("needs: sm_90 (a Hopper GPU that PyTorch can use)")
    sys.exit(2)

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


# --8<-- [start:kernel]
@gluon.jit
def store_numbers(out_ptr, START: gl.constexpr, WARPS: gl.constexpr):
    # This group stores a number and a sum to each of its own elements, and reads nobody else's.
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [WARPS], [0])
    numbers = gl.arange(0, 32 * WARPS, layout)
    gl.store(out_ptr + START + numbers, (START + numbers + gl.sum(numbers, 0)).to(gl.float32))


@gluon.jit
def parted_kernel(out_ptr):
    gl.warp_specialize(
        [
            (store_numbers, (out_ptr, 0, 4)),
            (store_numbers, (out_ptr, 128, 4)),
            (store_numbers, (out_ptr, 256, 4)),
            (store_numbers, (out_ptr, 384, 1)),
        ],
        [4, 4, 1],
        [160, 160, 24],
    )


out = torch.full((416,), torch.nan, device="cuda")
made = parted_kernel[(3,)](out, num_warps=4, maxnreg=128)
places, sizes = torch.arange(416, device="cuda"), torch.tensor([128, 128, 128, 32], device="cuda")
assert torch.equal(out, (places + (sizes * (sizes - 1) // 2).repeat_interleave(sizes)).float())
# Which warp does what is written to shared memory, all warps meet, and then it is read.
ptx = made.asm["ptx"].splitlines()
meeting = next(number for number, line in enumerate(ptx) if "barrier.sync" in line and "st.shared" in ptx[number - 1])
print(*(line.strip() for line in ptx[meeting - 1 : meeting + 1]), sep="\n")
# --8<-- [end:kernel]
