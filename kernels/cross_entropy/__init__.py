"""Cross-entropy of logits."""

from kernels.cross_entropy.cross_entropy import cross_entropy

__all__ = ["cross_entropy"]
