"""Two ways to pair a head's numbers, which look alike and are not."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:pairing]
from kernels.rotary_embedding import rotary_embedding

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.arange(8.0, device=device).view(1, 1, 1, 8)
quarter = torch.full((1, 4), torch.pi / 2, device=device)  # every pair by 90 degrees
halves, _ = rotary_embedding(x, x, quarter.cos(), quarter.sin())
print("first half with second half:", [round(v) for v in halves.flatten().tolist()])
#> first half with second half: [-4, -5, -6, -7, 0, 1, 2, 3]

# Neighbors: bring the even ones to the front, turn, and bring them back.
order = [0, 2, 4, 6, 1, 3, 5, 7]
turned, _ = rotary_embedding(x[..., order], x, quarter.cos(), quarter.sin())
neighbors = torch.empty_like(turned)
neighbors[..., order] = turned
print("neighbor with neighbor:", [round(v) for v in neighbors.flatten().tolist()])
#> neighbor with neighbor: [-1, 0, -3, 2, -5, 4, -7, 6]
# --8<-- [end:pairing]
