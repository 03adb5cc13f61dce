"""Softmax along one dimension."""

from kernels.softmax.softmax import softmax

__all__ = ["softmax"]
