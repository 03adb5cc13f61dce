"""The kernel that torch.compile writes for softmax along rows that fit a program."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from snippets.inductor.captured import captured, show


# --8<-- [start:softmax]
def softmax(x):
    return torch.softmax(x, dim=-1)


x = torch.randn(4096, 1000, device="cuda")
compiled, result, program = captured(softmax, x)
torch.testing.assert_close(result, softmax(x))
show(program)
# --8<-- [end:softmax]
