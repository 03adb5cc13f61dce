"""Sums, maxima and histograms."""

from kernels.reductions.histogram import histogram
from kernels.reductions.max import max
from kernels.reductions.sum import sum

__all__ = ["histogram", "max", "sum"]
