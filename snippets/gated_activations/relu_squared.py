"""Solution: a unit gated by the square of a ReLU, and its gradients."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:solution]
import triton
import triton.language as tl


@triton.jit
def squared_kernel(gate_ptr, up_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = offsets < n_elements
    gate = tl.load(gate_ptr + offsets, mask=mask).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=mask).to(tl.float32)
    gate = tl.maximum(gate, 0.0)
    tl.store(y_ptr + offsets, gate * gate * up, mask=mask)


@triton.jit
def squared_backward_kernel(
    gate_ptr, up_ptr, dy_ptr, dgate_ptr, dup_ptr, n_elements, BLOCK: tl.constexpr
):
    pid = tl.program_id(0).to(tl.int64)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = offsets < n_elements
    gate = tl.load(gate_ptr + offsets, mask=mask).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=mask).to(tl.float32)
    dy = tl.load(dy_ptr + offsets, mask=mask).to(tl.float32)
    gate = tl.maximum(gate, 0.0)
    tl.store(dgate_ptr + offsets, dy * up * 2 * gate, mask=mask)
    tl.store(dup_ptr + offsets, dy * gate * gate, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
gate, up, dy = torch.randn(3, 5000, device=device)
y, dgate, dup = torch.empty(3, 5000, device=device)
squared_kernel[(5,)](gate, up, y, 5000, BLOCK=1024)
squared_backward_kernel[(5,)](gate, up, dy, dgate, dup, 5000, BLOCK=1024)
gate, up = gate.requires_grad_(), up.requires_grad_()
expected = torch.relu(gate) ** 2 * up
torch.testing.assert_close(y, expected.detach())
for ours, theirs in zip((dgate, dup), torch.autograd.grad(expected, (gate, up), dy), strict=True):
    torch.testing.assert_close(ours, theirs)
print("as PyTorch")
#> as PyTorch
# --8<-- [end:solution]
