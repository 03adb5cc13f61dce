"""What torch.compile writes for the softmax of rows that are too long to stay on chip."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from snippets.inductor.captured import captured, show


# --8<-- [start:long]
def softmax(x):
    return torch.softmax(x, dim=-1)


x = torch.randn(1024, 50_000, device="cuda")
compiled, result, program = captured(softmax, x)
torch.testing.assert_close(result, softmax(x))
show(program)
# --8<-- [end:long]
