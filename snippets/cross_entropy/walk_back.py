"""Rows too long to keep: two walks along each row, the second one back the way the first one came."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def walk_back_kernel(
    x_ptr, target_ptr, loss_ptr, dx_ptr, n_rows, n_classes, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * n_classes
    dx_ptr += row * n_classes
    target = tl.load(target_ptr + row)
    lanes = tl.arange(0, BLOCK)  # [BLOCK]

    peak, total = -float("inf"), 0.0
    for start in range(0, n_classes, BLOCK):  # there
        mask = start + lanes < n_classes
        x = tl.load(x_ptr + start + lanes, mask=mask, other=-float("inf"))
        x = x.to(tl.float32)
        new_peak = tl.maximum(peak, tl.max(x, axis=0))
        total = total * tl.exp(peak - new_peak) + tl.sum(tl.exp(x - new_peak), axis=0)
        peak = new_peak
    x_target = tl.load(x_ptr + target).to(tl.float32)
    tl.store(loss_ptr + row, tl.log(total) + peak - x_target)

    last = (n_classes - 1) // BLOCK * BLOCK
    for back in range(0, n_classes, BLOCK):  # and back again
        columns = last - back + lanes
        mask = columns < n_classes
        x = tl.load(x_ptr + columns, mask=mask, other=-float("inf")).to(tl.float32)
        dx = tl.exp(x - peak) / total - tl.where(columns == target, 1.0, 0.0)
        tl.store(dx_ptr + columns, dx / n_rows, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
logits = torch.randn(6, 5000, device=device, requires_grad=True)
target = torch.randint(0, 5000, (6,), device=device)
losses, dlogits = torch.empty(6, device=device), torch.empty_like(logits)
walk_back_kernel[(6,)](logits, target, losses, dlogits, 6, 5000, BLOCK=1024)

loss = F.cross_entropy(logits, target)
loss.backward()
torch.testing.assert_close(losses.mean(), loss.detach())
torch.testing.assert_close(dlogits, logits.grad)
print("loss and gradient agree")
#> loss and gradient agree
# --8<-- [end:launch]
