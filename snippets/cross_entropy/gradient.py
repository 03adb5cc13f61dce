"""The loss and its gradient from one read of the logits."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import torch.nn.functional as F
import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def both_kernel(
    x_ptr, target_ptr, loss_ptr, dx_ptr, n_rows, n_classes, BLOCK: tl.constexpr
):
    # This program owns one row of logits, and of the gradient of the mean.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_classes  # [BLOCK]
    at = row * n_classes + columns  # [BLOCK]
    x = tl.load(x_ptr + at, mask=mask, other=-float("inf")).to(tl.float32)
    peak = tl.max(x, axis=0)
    exponential = tl.exp(x - peak)  # [BLOCK]
    total = tl.sum(exponential, axis=0)
    is_target = columns == tl.load(target_ptr + row)  # [BLOCK]
    x_target = tl.sum(tl.where(is_target, x, 0.0), axis=0)
    tl.store(loss_ptr + row, tl.log(total) + peak - x_target)
    dx = exponential / total - tl.where(is_target, 1.0, 0.0)  # [BLOCK]
    tl.store(dx_ptr + at, dx / n_rows, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:gradient]
device = "cuda" if torch.cuda.is_available() else "cpu"
logits = torch.randn(6, 1000, device=device, requires_grad=True)
target = torch.tensor([3, 999, 0, 17, 512, 4], device=device)
loss = torch.empty(6, device=device)
dlogits = torch.empty_like(logits)
both_kernel[(6,)](logits, target, loss, dlogits, 6, 1000, BLOCK=1024)

F.cross_entropy(logits, target).backward()
torch.testing.assert_close(dlogits, logits.grad)
print("the gradient was there before backward() was called")
#> the gradient was there before backward() was called
# --8<-- [end:gradient]
