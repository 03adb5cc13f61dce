"""From a float to int8: a cast cuts the fraction off, and two additions round it to the nearest, halves to even."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:cast]
@triton.jit
def float_to_int8_kernel(x_ptr, cut_ptr, rounded_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)  # float32
    tl.store(cut_ptr + offsets, x.to(tl.int8), mask=mask)
    shift = 1.5 * 2**23  # from 2**23 to 2**24, float32 has whole numbers and nothing between them
    rounded = (x + shift) - shift
    tl.store(rounded_ptr + offsets, rounded.to(tl.int8), mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.arange(-127 * 8, 127 * 8 + 1, device=device) / 8  # every eighth from -127 to 127
cut, rounded = torch.empty(2, x.numel(), dtype=torch.int8, device=device)
float_to_int8_kernel[(2,)](x, cut, rounded, x.numel(), BLOCK=1024)
expected = x.round().to(torch.int8)  # PyTorch rounds to the nearest too, and a half to the even neighbor
print("of", x.numel(), "numbers, cut differs in", (cut != expected).sum().item())
#> of 2033 numbers, cut differs in 888
print("and rounded in", (rounded != expected).sum().item())
#> and rounded in 0
up = (x + 0.5).floor() != x.round()
print("and floor(x + 0.5) in", up.sum().item(), "of them halves:", (x.frac().abs() == 0.5)[up].all().item())
#> and floor(x + 0.5) in 127 of them halves: True
# --8<-- [end:cast]

# --8<-- [start:ptx]
import re

from kernels.tools.compile_only import compile_only

ptx = compile_only(float_to_int8_kernel, x, cut, rounded, x.numel(), BLOCK=1024).asm["ptx"]
added, taken = (len(re.findall(rf"add\S* .*, {bits};", ptx)) for bits in ("0f4B400000", "0fCB400000"))
print("the shift is added and taken away, for every number of a thread:", added == taken > 0)
#> the shift is added and taken away, for every number of a thread: True
# --8<-- [end:ptx]
