"""Cross-entropy of a linear layer's outputs, which are never all in memory."""

from kernels.linear_cross_entropy.linear_cross_entropy import linear_cross_entropy

__all__ = ["linear_cross_entropy"]
