"""SwiGLU in its shortest form: one kernel for an activation and a product, and one for both gradients."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]
# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]


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


# --8<-- [start:backward]
@triton.jit
def swiglu_backward_kernel(
    gate_ptr, up_ptr, dy_ptr, dgate_ptr, dup_ptr, n_elements, BLOCK: tl.constexpr
):
    pid = tl.program_id(0).to(tl.int64)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = offsets < n_elements
    gate = tl.load(gate_ptr + offsets, mask=mask).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=mask).to(tl.float32)
    dy = tl.load(dy_ptr + offsets, mask=mask).to(tl.float32)
    share = tl.sigmoid(gate)  # once more, from the gate
    slope = share * (1 + gate * (1 - share))
    tl.store(dgate_ptr + offsets, dy * up * slope, mask=mask)
    tl.store(dup_ptr + offsets, dy * gate * share, mask=mask)
# --8<-- [end:backward]


# --8<-- [start:function]
class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate, up):
        ctx.save_for_backward(gate, up)
        y = torch.empty_like(gate)
        swiglu_kernel[grid](gate, up, y, y.numel(), BLOCK=1024)
        return y

    @staticmethod
    def backward(ctx, dy):
        gate, up = ctx.saved_tensors
        dgate, dup, dy = torch.empty_like(gate), torch.empty_like(up), dy.contiguous()
        swiglu_backward_kernel[grid](gate, up, dy, dgate, dup, dy.numel(), BLOCK=1024)
        return dgate, dup


gate.requires_grad_(), up.requires_grad_()
dy = torch.randn_like(y)
ours = torch.autograd.grad(SwiGLU.apply(gate, up), (gate, up), dy)
theirs = torch.autograd.grad(F.silu(gate) * up, (gate, up), dy)
torch.testing.assert_close(ours, theirs)
print("both gradients agree")
#> both gradients agree
# --8<-- [end:function]

# --8<-- [start:halves]
both = torch.randn(30, 1000, device=device)  # what one matrix product left
gate, up = both.chunk(2, dim=-1)  # its halves: views of 30 x 500
swiglu_kernel[grid](gate, up, y, y.numel(), BLOCK=1024)
right = torch.isclose(y, F.silu(gate) * up, atol=1e-6)
print("right:", [row for row in range(30) if right[row].all()])
#> right: [0]
# --8<-- [end:halves]
assert not right[1:].any(dim=1).all()
