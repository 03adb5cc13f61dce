"""The kernels that serve matrix products, by the names that a plan gives them."""

from collections.abc import Callable

from kernels.matmul_hopper import matmul_hopper
from kernels.matmul_narrow import matmul_narrow
from kernels.matmul_split import matmul_split
from kernels.matmul_tiled import matmul_tiled

MATMUL_KERNELS: dict[str, Callable] = {
    "tiled": matmul_tiled,
    "split": matmul_split,
    "hopper": matmul_hopper,
    "narrow": matmul_narrow,
}
