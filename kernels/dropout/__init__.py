"""Dropout whose mask is never stored."""

from kernels.dropout.dropout import dropout

__all__ = ["dropout"]
