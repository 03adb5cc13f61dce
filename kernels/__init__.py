"""GPU kernels in Triton, each with its plain PyTorch reference beside it.

Every function takes and returns torch tensors, runs on a CUDA device, and on the CPU when Triton's
interpreter is on (`TRITON_INTERPRET=1` before triton is first imported). Where `torch.compile` or `torch.export` records
a graph, each becomes one operator of `torch.ops.blockwise`.
"""

from kernels.add import add
from kernels.cross_entropy import cross_entropy
from kernels.dropout import dropout
from kernels.geglu import geglu
from kernels.gelu import gelu
from kernels.histogram import histogram
from kernels.in_graphs import IN_GRAPHS
from kernels.layer_norm import layer_norm
from kernels.layer_norm_linear import layer_norm_linear
from kernels.matmul import matmul
from kernels.max import max
from kernels.operators import recorded
from kernels.rms_norm import rms_norm
from kernels.rotary_embedding import rotary_embedding
from kernels.scaled_matmul import scaled_matmul
from kernels.softmax import softmax
from kernels.sum import sum
from kernels.swiglu import swiglu

__all__ = [
    "add",
    "cross_entropy",
    "dropout",
    "geglu",
    "gelu",
    "histogram",
    "layer_norm",
    "layer_norm_linear",
    "matmul",
    "max",
    "rms_norm",
    "rotary_embedding",
    "scaled_matmul",
    "softmax",
    "sum",
    "swiglu",
]
__version__ = "0.1.0"

globals().update({name: recorded(globals()[name], in_graph) for name, in_graph in IN_GRAPHS.items()})
