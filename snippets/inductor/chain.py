"""The kernel that torch.compile writes for a chain of element-wise operations."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from snippets.inductor.captured import captured, show


# --8<-- [start:chain]
def chain(x, y):
    return torch.tanh(x * y + 1) * torch.sigmoid(x)


x, y = torch.randn(2, 8192, 4096, device="cuda").unbind()
compiled, result, program = captured(chain, x, y)
torch.testing.assert_close(result, chain(x, y))
show(program)
# --8<-- [end:chain]
