"""A configuration for one matrix product, found by trying, and kept on disk.

`matmul_plan` takes what was measured once, on the GPUs that it names. Here the GPU at hand is asked: every candidate
multiplies the matrices given, what comes out is compared with what the shipped configuration gives, and the fastest is
kept. The file is written after every candidate, so an interrupted search goes on where it stopped.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from triton.compiler.errors import CompilationError
from triton.runtime.errors import OutOfResources, PTXASError
from triton.testing import do_bench

from kernels.common.arguments import on_device_of
from kernels.matmul.aligned import aligned_copy
from kernels.matmul.autotune_cache import candidate_name, read_tried, search_file, search_key, write_tried
from kernels.matmul.configs import (
    GLUON_TILE,
    NAMES,
    NARROW_NAMES,
    NARROW_TILES,
    ONE_NARROW_WAVE_TILES,
    ONE_WAVE_TILES,
    SHARED_TILES,
    TILES,
)
from kernels.matmul.dispatch import MATMUL_KERNELS, prepare_launch
from kernels.matmul.epilogue import Epilogue
from kernels.matmul.plan import (
    MatmulPlan,
    hopper_plan,
    loadable,
    matmul_family,
    matmul_kind,
    matmul_layout,
    matmul_plan,
)

# Of the portable kernel, beside the tiles that ship: BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, num_warps, num_stages.
MORE_TILES: dict[str, list[tuple[int, ...]]] = {
    "half": [
        (256, 128, 64, 8, 8, 3),
        (128, 256, 64, 8, 8, 4),
        (128, 256, 32, 8, 8, 4),
        (128, 128, 64, 8, 4, 3),
        (128, 128, 64, 8, 8, 3),
        (128, 128, 64, 1, 8, 4),
        (128, 128, 32, 8, 4, 4),
        (128, 64, 64, 8, 4, 4),
        (64, 256, 64, 8, 4, 3),
        (64, 128, 64, 8, 4, 3),
        (64, 64, 64, 8, 4, 5),
        (32, 64, 128, 8, 4, 4),
        (16, 64, 128, 8, 4, 5),
    ],
    "tf32": [(128, 64, 32, 8, 4, 4), (64, 128, 32, 8, 4, 4), (64, 64, 64, 8, 4, 3), (16, 64, 64, 8, 4, 4)],
    "ieee": [(128, 64, 16, 8, 8, 3), (64, 128, 16, 8, 8, 3), (64, 64, 32, 8, 8, 3), (16, 64, 32, 8, 4, 3)],
}
# What is changed of a configuration of the other kernels to make more of them.
HOPPER_CHANGES: list[dict[str, int]] = [
    {"BLOCK_M": 128, "BLOCK_N": 256, "num_stages": 3},
    {"BLOCK_M": 128, "BLOCK_N": 256, "num_stages": 4},
    {"BLOCK_M": 256, "BLOCK_N": 128, "num_stages": 3},
    {"BLOCK_M": 128, "BLOCK_N": 128, "num_stages": 4},
    {"BLOCK_M": 128, "BLOCK_N": 128, "num_stages": 3},
    {"GROUP_M": 4},
    {"GROUP_M": 16},
]
SPLIT_PARTS = (2, 4, 8, 16, 32, 64)

found_plans: dict[tuple, MatmulPlan] = {}


def search_candidates(a: torch.Tensor, b: torch.Tensor) -> list[tuple[str, dict[str, int]]]:
    """Kernels and configurations to try, the shipped one first, none twice."""
    kind, (family, processors) = matmul_kind(a.dtype), matmul_family(a.device)
    shipped = matmul_plan(a, b)
    found = [(shipped.kernel, shipped.configuration)]
    found += [("tiled", dict(zip(NAMES, tile, strict=True))) for tile in TILES[family].get(kind, []) + MORE_TILES.get(kind, [])]
    if family == "sm_90" and loadable(kind, matmul_layout(a), matmul_layout(b)):
        if kind == "half":
            found.append(("gluon", dict(zip(NAMES, GLUON_TILE, strict=True)) | {"programs": processors}))
        large = hopper_plan(8192, 8192, kind, processors).configuration
        for change in ({}, *HOPPER_CHANGES):
            configuration = large | change
            n_tiles = -(-a.shape[0] // configuration["BLOCK_M"]) * -(-b.shape[1] // configuration["BLOCK_N"])
            for programs in sorted({min(processors, n_tiles), n_tiles}):
                found.append(("hopper", configuration | {"programs": programs}))
    if shipped.kernel == "split":
        n_blocks = -(-a.shape[1] // shipped.configuration["BLOCK_K"])
        found += [("split", shipped.configuration | {"parts": parts}) for parts in SPLIT_PARTS if parts <= n_blocks]
    if shipped.kernel == "narrow":
        few, n_blocks = min(a.shape[0], b.shape[1]), -(-a.shape[1] // shipped.configuration["BLOCK_K"])
        tiles = [tile for columns, tile in NARROW_TILES[kind].items() if few <= columns or columns >= 64]
        if kind == "half":
            tiles += ONE_NARROW_WAVE_TILES if few <= 128 else ONE_WAVE_TILES
        tiles += SHARED_TILES[kind]
        found += [("narrow", shipped.configuration | {"parts": parts}) for parts in (1, *SPLIT_PARTS) if parts <= n_blocks]
        found += [("narrow", shipped.configuration | dict(zip(NARROW_NAMES, tile, strict=True))) for tile in tiles]
    once: dict[str, tuple[str, dict[str, int]]] = {}
    for candidate in found:
        once.setdefault(candidate_name(*candidate), candidate)
    return list(once.values())


def can_time(matrix: torch.Tensor) -> bool:
    return matrix.is_cuda


def search_ms(call: Callable[[], None]) -> float:
    """The median time of a call, in milliseconds, with a cold L2 cache."""
    return do_bench(call, warmup=5, rep=25, return_mode="median")


def agrees(c: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether two results of one product differ by no more than its roundings may."""
    c, expected = c.float(), expected.float()
    largest = expected.nan_to_num(0.0, 0.0, 0.0).abs().max().item()
    return torch.allclose(c, expected, rtol=0.02, atol=0.02 * largest, equal_nan=True)


def search_one(kernel: str, configuration: dict[str, int], a, b, expected: torch.Tensor) -> dict[str, Any]:
    """Try one candidate; one that does not compile, does not fit or computes something else has no time but a reason."""
    entry: dict[str, Any] = {"kernel": kernel, "configuration": configuration, "ms": None}
    c = torch.full_like(expected, torch.nan)
    precision = "ieee" if matmul_kind(a.dtype) == "ieee" else "tf32"
    finish = Epilogue()
    try:
        launch = MATMUL_KERNELS[kernel](a, b, c, finish, precision, configuration)
        launch(a, b, c, finish)
        if not agrees(c, expected):
            return entry | {"failure": "another result"}
        return entry | {"ms": round(search_ms(lambda: launch(a, b, c, finish)), 6)}
    except (OutOfResources, PTXASError, CompilationError, RuntimeError) as error:
        torch.cuda.synchronize(a.device)  # an error of the GPU itself is raised again here, and ends the search
        lines = str(error).strip().splitlines() or [""]
        return entry | {"failure": f"{type(error).__name__}: {lines[-1]}"}


def matmul_search(a: torch.Tensor, b: torch.Tensor) -> MatmulPlan:
    """The fastest known configuration for `a @ b` on this GPU; the first call of a shape tries them all, which takes a while.

    Args:
        a: A matrix of m rows and k columns, on a CUDA device; what `matmul` takes.
        b: A matrix of k rows and n columns, of the dtype of `a`, on the same device.

    Returns:
        A plan as `matmul_plan` makes them. The shipped plan, without a search, for an empty product and while a CUDA graph
            is captured.

    Raises:
        ValueError: `a` does not lie on a CUDA device: only a GPU's times tell configurations apart.
    """
    if not can_time(a):
        raise ValueError(f"a: expected a CUDA tensor, because a search compares times on a GPU, got one on {a.device}")
    alignments = a.data_ptr() % 16, b.data_ptr() % 16
    known = (a.shape, b.shape, a.stride(), b.stride(), alignments, a.dtype, matmul_kind(a.dtype), a.device)
    plan = found_plans.get(known)
    if plan is None:
        plan = matmul_plan(a, b)
        if 0 in (*a.shape, *b.shape) or torch.cuda.is_current_stream_capturing():
            return plan
        plan = found_plans[known] = search_all(a, b, plan)
    return plan


def search_all(a: torch.Tensor, b: torch.Tensor, shipped: MatmulPlan) -> MatmulPlan:
    """Try every candidate that no earlier search has tried, and choose among all."""
    key = search_key(a, b)
    path = search_file(key)
    a, b = (aligned_copy(t.detach()) if copy else t.detach() for t, copy in zip((a, b), shipped.copies, strict=True))
    candidates = search_candidates(a, b)
    kept = {candidate_name(entry["kernel"], entry["configuration"]): entry for entry in read_tried(path, key)}
    tried, expected = [], None
    with on_device_of(a):
        for kernel, configuration in candidates:
            name = candidate_name(kernel, configuration)
            if name not in kept:
                if expected is None:
                    expected, finish = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device), Epilogue()
                    prepare_launch(a, b, expected, finish, replace(shipped, copies=(False, False)))(a, b, expected, finish)
                kept[name] = search_one(kernel, configuration, a, b, expected)
                write_tried(path, key, list(kept.values()))
            tried.append(kept[name])
    timed = [entry for entry in tried if isinstance(entry["ms"], (int, float)) and entry["ms"] > 0]
    if not timed:
        return shipped
    best = min(timed, key=lambda entry: entry["ms"])
    reason = f"The fastest of {len(timed)} configurations that were tried on this GPU; {len(tried) - len(timed)} failed."
    return MatmulPlan(best["kernel"], best["configuration"], reason, shipped.copies)
