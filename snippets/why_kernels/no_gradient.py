"""What goes wrong when a kernel stands in for PyTorch operations: gradients stop there, without an error."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from snippets.why_kernels.one_kernel import five_in_one

# --8<-- [start:no_gradient]
device = "cuda" if torch.cuda.is_available() else "cpu"
scores = torch.randn(10, 500, device=device, requires_grad=True)
print("PyTorch:   ", torch.softmax(scores, dim=-1).requires_grad)
#> PyTorch:    True
print("the kernel:", five_in_one(scores).requires_grad)
#> the kernel: False
# --8<-- [end:no_gradient]
assert not five_in_one(scores).requires_grad, "the mistake this program shows did not happen"
