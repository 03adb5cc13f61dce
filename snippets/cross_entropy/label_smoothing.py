"""Label smoothing: a part of every target goes to all classes alike."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:label_smoothing]
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def smoothed_loss_kernel(
    x_ptr, target_ptr, loss_ptr, n_classes, smoothing, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_classes  # [BLOCK]
    x_ptrs = x_ptr + row * n_classes + columns
    x = tl.load(x_ptrs, mask=mask, other=-float("inf")).to(tl.float32)
    peak = tl.max(x, axis=0)
    logarithm = tl.log(tl.sum(tl.exp(x - peak), axis=0)) + peak
    is_target = columns == tl.load(target_ptr + row)  # [BLOCK]
    x_target = tl.sum(tl.where(is_target, x, 0.0), axis=0)
    # The masked lanes hold minus infinity, which a sum must not meet.
    x_mean = tl.sum(tl.where(mask, x, 0.0), axis=0) / n_classes
    wanted = (1 - smoothing) * x_target + smoothing * x_mean
    tl.store(loss_ptr + row, logarithm - wanted)


device = "cuda" if torch.cuda.is_available() else "cpu"
logits = torch.randn(6, 1000, device=device)
target = torch.randint(0, 1000, (6,), device=device)
loss = torch.empty(6, device=device)
smoothed_loss_kernel[(6,)](logits, target, loss, 1000, 0.1, BLOCK=1024)
torch.testing.assert_close(
    loss, F.cross_entropy(logits, target, reduction="none", label_smoothing=0.1)
)
print("as PyTorch's label_smoothing=0.1")
#> as PyTorch's label_smoothing=0.1
# --8<-- [end:label_smoothing]
