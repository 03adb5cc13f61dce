"""Layer norm, RMS norm, group norm."""

from kernels.norm.add_rms_norm import add_rms_norm
from kernels.norm.group_norm import group_norm
from kernels.norm.layer_norm import layer_norm
from kernels.norm.rms_norm import rms_norm

__all__ = ["add_rms_norm", "group_norm", "layer_norm", "rms_norm"]
