"""The library's softmax inside autograd, beside PyTorch's."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:gradient]
from kernels.softmax import softmax

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(8, 300, device=device, requires_grad=True)
weights = torch.randn(8, 300, device=device)
(ours,) = torch.autograd.grad((softmax(x) * weights).sum(), x)
(theirs,) = torch.autograd.grad((torch.softmax(x, dim=-1) * weights).sum(), x)
torch.testing.assert_close(ours, theirs)
print("the gradients agree")
#> the gradients agree
# --8<-- [end:gradient]
