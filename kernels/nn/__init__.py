"""The library's functions as modules: PyTorch's arguments and parameter names, so that saved weights fit."""

from kernels.nn.losses import CrossEntropyLoss, LinearCrossEntropyLoss
from kernels.nn.norms import GroupNorm, LayerNorm, RMSNorm
from kernels.nn.swiglu_mlp import SwiGLU

__all__ = ["CrossEntropyLoss", "GroupNorm", "LayerNorm", "LinearCrossEntropyLoss", "RMSNorm", "SwiGLU"]
