"""The product of a turned query and a turned key depends on how far apart they stand, and on nothing else."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:distance]
from kernels.rotary_embedding import rotary_embedding

device = "cuda" if torch.cuda.is_available() else "cpu"
angles = torch.outer(torch.arange(40.0), 100.0 ** -torch.linspace(0, 1, 8)).to(device)
generator = torch.Generator().manual_seed(0)
q, k = torch.randn(2, 1, 1, 1, 16, generator=generator).to(device)
# The same query and the same key at each of forty positions: [1, 1, 40, 16].
q, k = q.expand(-1, -1, 40, -1), k.expand(-1, -1, 40, -1)
q, k = rotary_embedding(q, k, angles.cos(), angles.sin())
products = (q @ k.mT)[0, 0]  # [query's position, key's position]
for query, key in [(5, 3), (22, 20), (39, 37)]:
    print(f"query at {query:2}, key at {key:2}: {products[query, key].item():.3f}")
    #> query at  5, key at  3: -2.176
    #> query at 22, key at 20: -2.176
    #> query at 39, key at 37: -2.176
print(f"query at  5, key at  4: {products[5, 4].item():.3f}")
#> query at  5, key at  4: 0.887
# --8<-- [end:distance]
