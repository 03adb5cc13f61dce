"""The gradient of each sample of a batch: the kernels take all samples as rows of one launch."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:each]
import torch

from kernels.functional import cross_entropy, rms_norm

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
gain = torch.ones(32, device=device)
x, target = torch.randn(8, 32, device=device), torch.randint(0, 32, (8,), device=device)


def loss(gain, x, target):
    return cross_entropy(rms_norm(x, (32,), gain), target)


each = torch.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(gain, x, target)
print(each.shape)
#> torch.Size([8, 32])

# The mean loss of the batch has the mean of these gradients.
torch.testing.assert_close(each.mean(0), torch.func.grad(loss)(gain, x, target))
# --8<-- [end:each]
