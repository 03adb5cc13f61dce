"""The library's functions as modules: PyTorch's arguments and parameter names, so that saved weights fit."""

from kernels.nn.losses import CrossEntropyLoss, LinearCrossEntropyLoss
from kernels.nn.norms import GroupNorm, LayerNorm, RMSNorm
from kernels.nn.rotary import RotaryPositionEmbedding
from kernels.nn.self_attention import KeyValueCache, SelfAttention
from kernels.nn.swiglu_mlp import SwiGLU

__all__ = [
    "CrossEntropyLoss",
    "GroupNorm",
    "KeyValueCache",
    "LayerNorm",
    "LinearCrossEntropyLoss",
    "RMSNorm",
    "RotaryPositionEmbedding",
    "SelfAttention",
    "SwiGLU",
]
