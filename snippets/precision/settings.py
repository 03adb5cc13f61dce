"""PyTorch's setting for float32 products, and what the library makes of it."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:settings]
import torch

from kernels.matmul.plan import matmul_kind

for setting in ("tf32", "ieee"):
    torch.backends.cuda.matmul.fp32_precision = setting
    kinds = [matmul_kind(dtype) for dtype in (torch.float32, torch.float16, torch.bfloat16)]
    print(f"{setting}: float32 by {kinds[0]}, float16 and bfloat16 by {kinds[1]} and {kinds[2]}")
    #> tf32: float32 by tf32, float16 and bfloat16 by half and half
    #> ieee: float32 by ieee, float16 and bfloat16 by half and half
# --8<-- [end:settings]
