"""The loss of each row in one kernel, without a matrix of probabilities."""
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
def loss_kernel(x_ptr, target_ptr, loss_ptr, n_classes, BLOCK: tl.constexpr):
    # This program owns one row of logits.
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * n_classes
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_classes  # [BLOCK]
    x = tl.load(x_ptr + columns, mask=mask, other=-float("inf"))
    x = x.to(tl.float32)  # [BLOCK]
    peak = tl.max(x, axis=0)
    total = tl.sum(tl.exp(x - peak), axis=0)
    x_target = tl.load(x_ptr + tl.load(target_ptr + row)).to(tl.float32)
    tl.store(loss_ptr + row, tl.log(total) + peak - x_target)
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
logits = torch.randn(6, 1000, device=device)
target = torch.tensor([3, 999, 0, 17, 512, 4], device=device)
loss = torch.empty(6, device=device)
loss_kernel[(6,)](logits, target, loss, 1000, BLOCK=1024)
expected = F.cross_entropy(logits, target, reduction="none")
torch.testing.assert_close(loss, expected)
print("rows:", len(loss), "numbers stored:", loss.numel())
#> rows: 6 numbers stored: 6
# --8<-- [end:launch]


# --8<-- [start:out_of_range]
target[1] = 1000  # the classes are 0 to 999
loss_kernel[(6,)](logits, target, loss, 1000, BLOCK=1024)
print("a loss like any other:", 0 < loss[1].item() < 20)
#> a loss like any other: True
wrong = logits[1].logsumexp(0) - logits[2, 0]  # the first logit of the next row
print("the neighbor's logit:", torch.allclose(loss[1], wrong))
#> the neighbor's logit: True
# --8<-- [end:out_of_range]
