"""GPU kernels in Triton, each with its plain PyTorch reference beside it.

Every function takes and returns torch tensors, runs on a CUDA device, and on the CPU when Triton's
interpreter is on (`TRITON_INTERPRET=1` before triton is first imported). Where `torch.compile` or `torch.export` records
a graph, each becomes one operator of `torch.ops.blockwise`.
"""

from kernels.activations.geglu import geglu
from kernels.activations.gelu import gelu
from kernels.activations.swiglu import swiglu
from kernels.add import add
from kernels.attention.attention import attention
from kernels.attention.attention_packed import attention_packed
from kernels.cross_entropy.cross_entropy import cross_entropy
from kernels.dropout.dropout import dropout
from kernels.layer_norm_linear import layer_norm_linear
from kernels.linear_cross_entropy.linear_cross_entropy import linear_cross_entropy
from kernels.matmul.matmul import matmul
from kernels.matmul.scaled_matmul import scaled_matmul
from kernels.moe.moe import moe
from kernels.norm.add_rms_norm import add_rms_norm
from kernels.norm.group_norm import group_norm
from kernels.norm.layer_norm import layer_norm
from kernels.norm.rms_norm import rms_norm
from kernels.operators.in_graphs import IN_GRAPHS
from kernels.operators.register import operator_in_graph
from kernels.reductions.histogram import histogram
from kernels.reductions.max import max
from kernels.reductions.sum import sum
from kernels.rotary_embedding.rotary_embedding import rotary_embedding
from kernels.softmax.softmax import softmax

__all__ = [
    "add",
    "add_rms_norm",
    "attention",
    "attention_packed",
    "cross_entropy",
    "dropout",
    "geglu",
    "gelu",
    "group_norm",
    "histogram",
    "layer_norm",
    "layer_norm_linear",
    "linear_cross_entropy",
    "matmul",
    "max",
    "moe",
    "rms_norm",
    "rotary_embedding",
    "scaled_matmul",
    "softmax",
    "sum",
    "swiglu",
]
__version__ = "0.1.0"

globals().update({name: operator_in_graph(globals()[name], in_graph) for name, in_graph in IN_GRAPHS.items()})
