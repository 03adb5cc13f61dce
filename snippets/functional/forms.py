"""The library's functions called as PyTorch's are: other arguments, the same results."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:forms]
import torch
from torch.nn import functional

from kernels.functional import cross_entropy, layer_norm, softmax

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x = torch.randn(4, 6, 8, device=device)
logits, weight = torch.randn(4, 10, 3, device=device), torch.rand(10, device=device)
target = torch.randint(0, 10, (4, 3), device=device)

for one, other in [
    (layer_norm(x, (6, 8)), functional.layer_norm(x, (6, 8))),
    (softmax(target, 0, dtype=torch.float32), functional.softmax(target, 0, dtype=torch.float32)),
    (cross_entropy(logits, target, weight, label_smoothing=0.1),
     functional.cross_entropy(logits, target, weight, label_smoothing=0.1)),
]:  # fmt: skip
    torch.testing.assert_close(one, other)
print("all as PyTorch's")
#> all as PyTorch's
# --8<-- [end:forms]

# --8<-- [start:refused]
try:
    cross_entropy(logits, logits.softmax(1))
except NotImplementedError as error:
    reason, instead = str(error).split("; ")
print(reason)
#> target as probabilities is not taken here
print(instead)
#> use torch.nn.functional.cross_entropy, which takes it
# --8<-- [end:refused]

# --8<-- [start:autocast]
with torch.autocast(device, dtype=torch.bfloat16):
    loss = cross_entropy(logits.bfloat16(), target)
print(loss.dtype)
#> torch.float32
# --8<-- [end:autocast]
