"""A product of 8-bit floats with a scale for each 32 of them, under the interpreter."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:scaled]
@triton.jit
def scaled_dot_kernel(a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, out_ptr):
    rows, inner = tl.arange(0, 32), tl.arange(0, 64)
    a = tl.load(a_ptr + rows[:, None] * 64 + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * 32 + rows[None, :])
    scales = rows[:, None] * 2 + tl.arange(0, 2)[None, :]
    out = tl.dot_scaled(a, tl.load(a_scale_ptr + scales), "e4m3", b, tl.load(b_scale_ptr + scales), "e4m3")
    tl.store(out_ptr + rows[:, None] * 32 + rows[None, :], out)


a, b = (torch.ones(shape, device=device).to(torch.float8_e4m3fn) for shape in ((32, 64), (64, 32)))
twice = torch.full((32, 2), 128, dtype=torch.uint8, device=device)  # an exponent: 2 ** (128 - 127)
out = torch.zeros(32, 32, device=device)
said = error_of(lambda: scaled_dot_kernel[(1,)](a, b, twice, twice, out))
# --8<-- [end:scaled]
print(out[0, 0].item(), said.splitlines()[-1])
