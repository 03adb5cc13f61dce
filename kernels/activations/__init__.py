"""Activations, alone and as gates."""

from kernels.activations.geglu import geglu
from kernels.activations.gelu import gelu
from kernels.activations.swiglu import swiglu

__all__ = ["geglu", "gelu", "swiglu"]
