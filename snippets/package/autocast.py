"""What becomes of the library's functions under autocast: they take what they are given, and one of them asks."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:autocast]
import torch

from kernels import linear_cross_entropy, matmul, rms_norm

device = "cuda" if torch.cuda.is_available() else "cpu"
x, weight = torch.randn(4, 64, device=device), torch.randn(64, 64, device=device)
target = torch.tensor([0, 1, 2, 3], device=device)
with torch.autocast(device, dtype=torch.bfloat16):
    half = x @ weight  # PyTorch casts both
    print(half.dtype, rms_norm(half, weight[0]).dtype)
    #> torch.bfloat16 torch.bfloat16
    print(matmul(x, weight).dtype)  # nobody casts
    #> torch.float32
    try:
        matmul(half, weight)
    except TypeError as refused:
        print(refused)
        #> b: expected dtype bfloat16, the dtype of a, got float32
    print(linear_cross_entropy(half, weight, target).dtype)  # casts both as nn.Linear would
    #> torch.float32
# --8<-- [end:autocast]
