"""SwiGLU in its shortest form: one kernel for an activation and a product."""
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


# --8<-- [start:kernel]
@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = offsets < n_elements
    gate = tl.load(gate_ptr + offsets, mask=mask).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=mask).to(tl.float32)
    y = gate * tl.sigmoid(gate) * up
    tl.store(y_ptr + offsets, y, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
import torch.nn.functional as F

device = "cuda" if torch.cuda.is_available() else "cpu"
gate, up = torch.randn(2, 30, 500, device=device)
y = torch.empty_like(gate)
grid = (triton.cdiv(y.numel(), 1024),)
swiglu_kernel[grid](gate, up, y, y.numel(), BLOCK=1024)
torch.testing.assert_close(y, F.silu(gate) * up)
# --8<-- [end:launch]
