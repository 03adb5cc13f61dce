"""The library's modules in a model: trained as they are, exported, and compiled into one graph."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

# --8<-- [start:model]
import torch
from torch import nn

from kernels.nn import RMSNorm, SwiGLU

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
model = nn.Sequential(RMSNorm(64), SwiGLU(64, 128), nn.Linear(64, 8)).to(device)
x = torch.randn(4, 64, device=device)
model(x).square().mean().backward()
print(all(parameter.grad is not None for parameter in model.parameters()))
#> True
# --8<-- [end:model]

# --8<-- [start:export]
exported = torch.export.export(model, (x,))
print([str(node.target) for node in exported.graph.nodes if "blockwise" in str(node.target)])
#> ['blockwise.norm.default', 'blockwise.gated_unit.default']
# --8<-- [end:export]

# --8<-- [start:compile]
backend = "inductor" if device == "cuda" else "aot_eager"
compiled = torch.compile(model, fullgraph=True, backend=backend)
torch.testing.assert_close(compiled(x), model(x))
print("the same result from one graph")
#> the same result from one graph
# --8<-- [end:compile]
