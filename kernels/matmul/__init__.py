"""Products of matrices, with what may follow them in the same kernel."""

from kernels.matmul.matmul import matmul
from kernels.matmul.scaled_matmul import scaled_matmul

__all__ = ["matmul", "scaled_matmul"]
