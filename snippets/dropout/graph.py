"""A CUDA graph replays the launch that it recorded, seed and all: every replay drops the same elements."""
# needs: cuda
# --8<-- [start:imports]
import sys

import torch
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:graph]
import torch.nn.functional as F

from kernels.dropout import dropout

x = torch.ones(2**20, device="cuda")
for name, function in {"PyTorch": F.dropout, "ours": dropout}.items():
    function(x, 0.5)  # compiles what there is to compile
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = function(x, 0.5)
    graph.replay()
    first = y.clone()
    graph.replay()
    print(f"{name}: the same mask at every replay: {torch.equal(y, first)}")
# --8<-- [end:graph]
