"""What several operations share. Whoever imports a part of it learns first whether the package's folder is its own."""

from kernels.common.distributions import refuse_mixed_folder

__all__ = ["refuse_mixed_folder"]
