"""A matrix product of float32 and float16."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def weigh_kernel(scores_ptr, v_ptr, y_ptr, SIDE: tl.constexpr):
    lines = tl.arange(0, SIDE)
    places = lines[:, None] * SIDE + lines[None, :]
    p = tl.exp(tl.load(scores_ptr + places))  # float32
    v = tl.load(v_ptr + places)  # float16
    tl.store(y_ptr + places, tl.dot(p, v))  # the mistake


scores, v = torch.rand(32, 32, device=device), torch.rand(32, 32, device=device).half()
y = torch.empty_like(scores)
said = error_of(lambda: weigh_kernel[(1,)](scores, v, y, SIDE=32))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def weigh_kernel(scores_ptr, v_ptr, y_ptr, SIDE: tl.constexpr):
    lines = tl.arange(0, SIDE)
    places = lines[:, None] * SIDE + lines[None, :]
    p = tl.exp(tl.load(scores_ptr + places))
    v = tl.load(v_ptr + places)
    tl.store(y_ptr + places, tl.dot(p.to(v.dtype), v))


weigh_kernel[(1,)](scores, v, y, SIDE=32)
print(torch.allclose(y, scores.exp() @ v.float(), rtol=1e-3))
#> True
# --8<-- [end:right]
