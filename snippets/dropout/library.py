"""Call the library's dropout: seeds, types, strides, and a residual."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:call]
from kernels.dropout import dropout
from kernels.dropout.dropout import dropout_reference

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(30, 500, device=device)
y = dropout(x, 0.1, seed=7)
print("as its plain PyTorch twin:", torch.equal(y, dropout_reference(x, 0.1, seed=7)))
#> as its plain PyTorch twin: True
half, turned = x.bfloat16(), x.T.contiguous().T
print("the same mask in bfloat16:", torch.equal(dropout(half, 0.1, 7) == 0, y == 0))
#> the same mask in bfloat16: True
print("the same mask at other strides:", torch.equal(dropout(turned, 0.1, 7), y))
#> the same mask at other strides: True
# --8<-- [end:call]

# --8<-- [start:residual]
skip = torch.randn(30, 500, device=device)
torch.testing.assert_close(dropout(x, 0.1, 7, residual=skip), skip + y)
# --8<-- [end:residual]
