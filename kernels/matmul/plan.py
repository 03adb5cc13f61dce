"""Which kernel serves a matrix product, with which of the tiles in `kernels.matmul.configs`, and why."""

from dataclasses import dataclass, replace
from functools import lru_cache

import torch
import triton

from kernels.common.arguments import INTERPRETED
from kernels.matmul.configs import (
    GLUON_TILE,
    HOPPER_NAMES,
    HOPPER_TILES,
    NAMES,
    NARROW_NAMES,
    NARROW_TILES,
    ONE_NARROW_WAVE_TILES,
    ONE_WAVE_TILES,
    SHARED_TILES,
    TILES,
)


@dataclass(frozen=True)
class MatmulPlan:
    """The kernel that serves a product (`tiled`, `split`, `hopper`, `gluon` or `narrow`), how it is launched, and why, in words.

    `copies` says of a and of b whether it is copied first, to rows that begin at multiples of 16 bytes or 128.
    """

    kernel: str
    configuration: dict[str, int]
    reason: str
    copies: tuple[bool, bool] = (False, False)


# Below so many products, the host's time for making descriptors is too large a share.
WORTH_DESCRIPTORS = 2**24
# From so many products on, a copy of a matrix that no wide load can read costs less than it saves.
WORTH_A_COPY = 2**26
# From so much of m n / (m + n) on, a copy costs less than it saves where the lines of a matrix begin at multiples of 16 bytes
# but not of 128: the accelerator fetches two pieces of 128 bytes for each that lies across their border.
WORTH_A_SHIFT = 1300
# From so many bytes of a line on, lines are copied to multiples of 128 bytes: what is added to each is little there.
LONG_LINE = 1024
# From so much to add up for a multiprocessor that would be idle on, it is given a part of a sum.
WORTH_PARTS = 14000


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


def is_shifted(matrix: torch.Tensor, layout: str) -> bool:
    """Whether a descriptor can load lines of a matrix, but they begin at no multiples of 128 bytes, where a copy's do."""
    apart = matrix.stride(0 if layout == "rows" else 1) * matrix.element_size()
    return bool(layout) and apart >= LONG_LINE and apart % 128 != 0


def loadable(kind: str, a_layout: str, b_layout: str) -> bool:
    """Whether descriptors can load both matrices, as the tensor cores take them."""
    return bool(kind == "half" and a_layout and b_layout) or (kind, a_layout, b_layout) == ("fp8", "rows", "columns")


def matmul_plan(a: torch.Tensor, b: torch.Tensor) -> MatmulPlan:
    """Say which kernel computes `a @ b`, with which configuration, and why.

    Example:
        ```python
        import torch
        from kernels.matmul.plan import matmul_plan

        device = "cuda" if torch.cuda.is_available() else "cpu"
        plan = matmul_plan(torch.ones(64, 7, device=device), torch.ones(7, 64, device=device))
        print(plan.kernel, plan.copies, plan.reason.partition(",")[0])
        #> tiled (False, False) The portable kernel
        ```
    """
    kind, (family, processors) = matmul_kind(a.dtype), matmul_family(a.device)
    layouts = matmul_layout(a), matmul_layout(b)
    shifted = is_shifted(a, layouts[0]), is_shifted(b, layouts[1])
    plan = choose_plan(*a.shape, b.shape[1], kind, *layouts, family, processors, shifted)
    if plan.kernel == "gluon" and INTERPRETED:  # Triton's interpreter does not run Gluon
        return replace(hopper_plan(a.shape[0], b.shape[1], kind, processors), copies=plan.copies)
    return plan


def pick(tiles: list[tuple[int, ...]], m: int, n: int, processors: int) -> tuple[tuple[int, ...], int]:
    """The first tile that gives the GPU enough programs, or the last; and how many of it c has."""
    for tile in tiles:
        n_tiles = -(-m // tile[0]) * -(-n // tile[1])
        if n_tiles >= processors * 3 // 4:
            break
    return tile, n_tiles


def waves_area(tile: tuple[int, ...], m: int, n: int, processors: int) -> int:
    """What a multiprocessor computes of c, in whole waves: with tiles of about equal worth, the time goes with it."""
    n_tiles = -(-m // tile[0]) * -(-n // tile[1])
    return -(-n_tiles // processors) * tile[0] * tile[1]


def hopper_plan(m: int, n: int, kind: str, processors: int) -> MatmulPlan:
    """A plan for products whose matrices descriptors can load."""
    tile, n_tiles = pick(HOPPER_TILES[kind], m, n, processors)
    reason = f"Descriptors can load both matrices, and {n_tiles} tiles occupy {processors} multiprocessors."
    return MatmulPlan("hopper", dict(zip(HOPPER_NAMES, tile, strict=True)) | {"programs": processors}, reason)


def gluon_plan(m: int, n: int, kind: str, processors: int, other: MatmulPlan) -> MatmulPlan | None:
    """A plan with tiles of 192 by 128, where they leave fewer multiprocessors idle in the last wave than `other` does."""
    if kind != "half":
        return None
    area = waves_area(GLUON_TILE, m, n, processors)
    if area > 0.99 * waves_area((other.configuration["BLOCK_M"], other.configuration["BLOCK_N"]), m, n, processors):
        return None
    reason = f"{-(-m // 192) * -(-n // 128)} tiles of 192 by 128 fill the waves of {processors} multiprocessors best."
    return MatmulPlan("gluon", dict(zip(NAMES, GLUON_TILE, strict=True)) | {"programs": processors}, reason)


def split_tile(m: int, n: int, kind: str, family: str) -> tuple[int, ...]:
    """The tile of a product that is split: as narrow as the matrix, because only its bytes matter."""
    block_m, block_n = (min(max(triton.next_power_of_2(size), 16), 128) for size in (m, n))
    num_stages = 3 if family == "default" else 4
    narrow = 1 if kind != "tf32" else 2  # so that float32 takes no more shared memory
    if block_m <= 32:
        return block_m, min(block_n, 64), 128 // narrow, 8, 4, num_stages
    if block_n <= 32:
        return min(block_m, 64), block_n, 128 // narrow, 8, 4, num_stages
    return block_m, block_n, 64 // narrow, 8, 8 if block_m == 128 else 4, num_stages


def tiles_of(tile: tuple[int, ...], m: int, n: int) -> int:
    """How many tiles c has, where the larger of m and n gives the rows of a tile."""
    return -(-max(m, n) // tile[0]) * -(-min(m, n) // tile[1])


def narrow_tile(m: int, k: int, n: int, kind: str, processors: int) -> tuple[tuple[int, ...], bool] | None:
    """The tile of a product that is done in one wave or has a narrow matrix, and whether programs may share it; or None."""
    narrow = min(m, n)
    if narrow <= max(NARROW_TILES[kind]):
        return next(tile for columns, tile in NARROW_TILES[kind].items() if narrow <= columns), True
    large, few, *slim = SHARED_TILES[kind]
    n_large, wave = tiles_of(large, m, n), None
    if kind == "half":
        tiles = ONE_NARROW_WAVE_TILES if narrow <= 128 else ONE_WAVE_TILES
        wave = next((tile for tile in tiles if tiles_of(tile, m, n) <= processors), None)
        n_wave = tiles_of(wave, m, n) if wave else processors
        alone = 3 * n_wave > 2 * processors or k * processors < WORTH_PARTS * n_wave
    else:
        alone = k < 64 * large[2]
    if alone or 2 * n_large > processors:
        return (wave, False) if wave else None
    return (slim[0] if slim and narrow <= 128 else large if n_large >= 16 else few), True


def narrow_plan(m: int, k: int, n: int, kind: str, processors: int) -> MatmulPlan | None:
    """A plan for products of which every program computes one tile, or a part of its sums; None for all others."""
    found = narrow_tile(m, k, n, kind, processors)
    if found is None:
        return None
    tile, may_share = found
    n_tiles, n_blocks = tiles_of(tile, m, n), -(-k // tile[2])
    parts = max(1, min(processors // n_tiles, n_blocks // 4)) if may_share else 1
    shared = f"{parts} programs share each tile" if parts > 1 else "each tile is one program's"
    reason = f"The wide matrix gives the rows of {n_tiles} tiles for {processors} multiprocessors: {shared}."
    return MatmulPlan("narrow", dict(zip(NARROW_NAMES, tile, strict=True)) | {"parts": parts}, reason)


@lru_cache(maxsize=4096)
def choose_plan(
    m: int,
    k: int,
    n: int,
    kind: str,
    a_layout: str,
    b_layout: str,
    family: str,
    processors: int,
    shifted: tuple[bool, bool] = (False, False),
) -> MatmulPlan:
    """`matmul_plan` of sizes, layouts, and whether the lines of a and of b are `is_shifted`."""
    lay_anywhere = not a_layout, not b_layout
    if kind == "half" and any(lay_anywhere) and m * k * n >= WORTH_A_COPY:
        whole = choose_plan(m, k, n, kind, a_layout or "rows", b_layout or "rows", family, processors, shifted)
        reason = f"{whole.reason} Rows that begin at no multiple of 16 bytes are copied first."
        copies = whole.copies[0] or lay_anywhere[0], whole.copies[1] or lay_anywhere[1]
        return replace(whole, reason=reason, copies=copies)
    if any(shifted) and kind == "half" and family == "sm_90" and a_layout and b_layout and m * n >= WORTH_A_SHIFT * (m + n):
        whole = choose_plan(m, k, n, kind, a_layout, b_layout, family, processors)
        reason = f"{whole.reason} Rows that begin at no multiple of 128 bytes are copied first."
        return replace(whole, reason=reason, copies=shifted)
    if family == "sm_90" and loadable(kind, a_layout, b_layout) and m * k * n >= WORTH_DESCRIPTORS:
        if plan := narrow_plan(m, k, n, kind, processors):
            return plan
        plan = hopper_plan(m, n, kind, processors)
        return gluon_plan(m, n, kind, processors, plan) or plan
    tile = split_tile(m, n, kind, family)
    n_tiles, n_blocks = -(-m // tile[0]) * -(-n // tile[1]), -(-k // tile[2])
    if min(m, n) <= 128 and n_tiles <= 4 * processors and n_blocks >= 16 or 2 * n_tiles <= processors and n_blocks >= 64:
        parts = min(max(2 * processors // n_tiles, 1), n_blocks // 4)
        if parts > 1 and kind != "ieee":
            reason = f"{n_tiles} tiles leave {processors} multiprocessors idle or waiting: {parts} programs share each tile."
            return MatmulPlan("split", dict(zip(NAMES, tile, strict=True)) | {"parts": parts}, reason)
    tile, n_tiles = pick(TILES[family][kind], m, n, processors)
    reason = f"The portable kernel, with a tile of {family} that gives {processors} multiprocessors {n_tiles} programs."
    return MatmulPlan("tiled", dict(zip(NAMES, tile, strict=True)), reason)
