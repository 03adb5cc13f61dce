"""A mixture of experts: routing, sorting, and products of many small groups of rows in one launch."""

from kernels.moe.moe import moe

__all__ = ["moe"]
