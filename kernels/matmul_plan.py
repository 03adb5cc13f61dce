"""Which kernel serves a matrix product, with which tiles, and why.

The configurations here were found by measurement and ship with the library: nothing is searched for at run time. They are
kept by family of GPU. A GPU that no family names gets small tiles, which every GPU has room for.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch


@dataclass(frozen=True)
class MatmulPlan:
    """The kernel that serves a product (`tiled`, `split` or `hopper`), how it is launched, and the reason in words."""

    kernel: str
    configuration: dict[str, int]
    reason: str


NAMES = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages")

# Tiles by family and arithmetic, the largest first. The first that gives the GPU enough programs is taken, or the last.
TILES: dict[str, dict[str, list[tuple[int, ...]]]] = {
    "sm_80": {
        "half": [(128, 256, 32, 8, 8, 3), (128, 128, 32, 8, 4, 4), (64, 64, 64, 8, 4, 4)],
        "tf32": [(128, 128, 32, 8, 8, 3), (64, 64, 32, 8, 4, 4)],
        "ieee": [(128, 64, 32, 8, 4, 3), (64, 64, 32, 8, 4, 2)],
    },
    "sm_90": {
        "half": [(128, 256, 64, 8, 8, 3), (128, 128, 64, 8, 8, 4), (64, 64, 128, 8, 4, 3)],
        "tf32": [(128, 128, 32, 8, 8, 4), (64, 64, 64, 8, 4, 4)],
        "ieee": [(128, 64, 32, 8, 4, 3), (64, 64, 32, 8, 4, 2)],
        "fp8": [(128, 128, 128, 8, 8, 4), (64, 64, 128, 8, 4, 4)],
    },
    "sm_100": {
        "half": [(128, 256, 64, 8, 8, 3), (128, 128, 64, 8, 8, 4), (64, 64, 128, 8, 4, 3)],
        "tf32": [(128, 128, 32, 8, 8, 4), (64, 64, 64, 8, 4, 4)],
        "ieee": [(128, 64, 32, 8, 4, 3), (64, 64, 32, 8, 4, 2)],
        "fp8": [(128, 128, 128, 8, 8, 4), (64, 64, 128, 8, 4, 4)],
    },
    "default": {
        "half": [(64, 128, 32, 8, 4, 3), (64, 64, 32, 8, 4, 3)],
        "tf32": [(64, 64, 32, 8, 4, 3)],
        "ieee": [(64, 64, 32, 8, 4, 2)],
        "fp8": [(64, 128, 64, 8, 4, 3), (64, 64, 64, 8, 4, 3)],
    },
}


def matmul_kind(dtype: torch.dtype) -> str:
    """How products of a dtype are computed: `half`, `fp8`, and for float32 `tf32` or `ieee` as PyTorch's setting says."""
    if dtype == torch.float32:
        return "tf32" if torch.backends.cuda.matmul.fp32_precision == "tf32" else "ieee"
    return "half" if dtype.itemsize == 2 else "fp8"


@lru_cache
def matmul_family(device: torch.device) -> tuple[str, int]:
    """The family of a GPU whose configurations are used, and how many multiprocessors it has."""
    if device.type != "cuda":
        return "default", 4
    properties = torch.cuda.get_device_properties(device)
    exact = {(8, 0): "sm_80", (9, 0): "sm_90", (10, 0): "sm_100", (10, 3): "sm_100"}
    return exact.get((properties.major, properties.minor), "default"), properties.multi_processor_count


def matmul_layout(matrix: torch.Tensor) -> str:
    """Which of its lines a descriptor can load: `rows`, `columns`, or none (an empty string)."""
    row, column = matrix.stride()
    step = 16 // matrix.element_size()
    if matrix.data_ptr() % 16 == 0:
        if column == 1 and row >= matrix.shape[1] and row % step == 0:
            return "rows"
        if row == 1 and column >= matrix.shape[0] and column % step == 0:
            return "columns"
    return ""


def matmul_plan(a: torch.Tensor, b: torch.Tensor) -> MatmulPlan:
    """Say which kernel computes `a @ b`, with which configuration, and why."""
    kind, (family, processors) = matmul_kind(a.dtype), matmul_family(a.device)
    return planned(*a.shape, b.shape[1], kind, matmul_layout(a), matmul_layout(b), family, processors)


@lru_cache(maxsize=4096)
def planned(m: int, k: int, n: int, kind: str, a_layout: str, b_layout: str, family: str, processors: int) -> MatmulPlan:
    configuration = None
    for tile in TILES[family][kind]:
        configuration = dict(zip(NAMES, tile, strict=True))
        tiles = -(-m // tile[0]) * -(-n // tile[1])
        if tiles >= processors:
            break
    assert configuration is not None
    return MatmulPlan("tiled", configuration, "")
