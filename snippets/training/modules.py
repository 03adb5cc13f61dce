"""The library's modules in the place of PyTorch's, with the weights that PyTorch's had."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:modules]
import torch
from torch import nn

from kernels.nn import LinearCrossEntropyLoss, RMSNorm

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
norm, head = nn.RMSNorm(64).to(device), nn.Linear(64, 1000, bias=False).to(device)
x = torch.randn(10, 64, device=device)
target = torch.randint(0, 1000, (10,), device=device)
expected = nn.functional.cross_entropy(head(norm(x)), target)

fused_norm = RMSNorm(64).to(device)
fused_norm.load_state_dict(norm.state_dict())
head_and_loss = LinearCrossEntropyLoss(64, 1000, bias=False).to(device)
head_and_loss.load_state_dict(head.state_dict())
loss = head_and_loss(fused_norm(x), target)
torch.testing.assert_close(loss, expected)
print("the same loss, without logits")
#> the same loss, without logits
# --8<-- [end:modules]
