"""Queries as a projection leaves them go in and come out without a copy."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:layouts]
from kernels.rotary_embedding import rotary_embedding

device = "cuda" if torch.cuda.is_available() else "cpu"
projected = torch.randn(2, 7, 3 * 4 * 16, device=device)  # [B, S, q, k and v]
q, k, v = projected.view(2, 7, 3, 4, 16).unbind(2)  # three views, [B, S, H, D]
q, k = q.transpose(1, 2), k.transpose(1, 2)  # [B, H, S, D]
angles = torch.randn(7, 8, device=device)
turned, _ = rotary_embedding(q, k, angles.cos(), angles.sin())
print("in:", tuple(q.shape), q.stride())
#> in: (2, 4, 7, 16) (1344, 16, 192, 1)
print("out:", tuple(turned.shape), turned.stride())
#> out: (2, 4, 7, 16) (448, 16, 64, 1)
# --8<-- [end:layouts]
