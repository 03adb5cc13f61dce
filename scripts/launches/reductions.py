"""Sums, maxima and histograms of the library, and the kernels of snippets/reductions."""

from math import gcd
from typing import Any

from scripts.launches import X_AND_OUT, X_AND_Y, Specimen, called

# Blocks that are read ahead wait in shared memory: two of them, of up to 8192 elements of four bytes.
AHEAD_BYTES = 2 * 8192 * 4

# What is planned for a shape: strides of outer, results and terms; the numbers of results and terms; then the tile.
Reduction = tuple[tuple[int, int, int], tuple[int, int], dict[str, Any]]


def tile(
    block_m: int, block_n: int, parts: int = 1, stages: int = 1, num_warps: int = 4, outer: bool = False, one: bool = False
) -> dict[str, Any]:
    sizes = {"n_parts": parts, "OUTER": outer, "BLOCK_M": block_m, "BLOCK_N": block_n, "PARTS": 1 << (parts - 1).bit_length()}
    return sizes | {"STAGES": stages, "ONE_BLOCK": one, "num_warps": num_warps}


REDUCTIONS: dict[str, Reduction] = {
    "all": ((0, 0, 1), (1, 2**28), tile(1, 8192, 1024, stages=3, num_warps=8)),
    "all-odd": ((0, 0, 1), (1, 2**28 + 1), tile(1, 8192, 1024, stages=3, num_warps=8)),
    "all-small": ((0, 0, 1), (1, 2**24), tile(1, 4096, 1024, num_warps=8)),
    "rows": ((0, 4096, 1), (8192, 4096), tile(1, 4096, one=True)),
    "rows-odd": ((0, 781, 1), (65536, 781), tile(1, 1024, one=True)),
    "rows-short": ((0, 64, 1), (524288, 64), tile(32, 64, num_warps=1, one=True)),
    "rows-long": ((0, 2**18, 1), (1024, 2**18), tile(1, 8192, stages=3, num_warps=8)),
    "rows-few": ((0, 2**22, 1), (16, 2**22), tile(1, 8192, 64, stages=3, num_warps=8)),
    "columns": ((0, 1, 1024), (1024, 262144), tile(64, 64, 32, stages=3)),
    "columns-middle": ((0, 1, 4096), (4096, 8192), tile(64, 64, 16)),
    "columns-odd": ((0, 1, 781), (781, 65536), tile(16, 64, 41)),
    "columns-few": ((0, 1, 16), (16, 2**22), tile(16, 128, 512)),
    "middle": ((2**19, 1, 1024), (1024, 512), tile(64, 64, outer=True)),
}
# With indices, smaller blocks.
INDEXED: dict[str, dict[str, Any]] = {
    "rows": tile(1, 512, num_warps=1),
    "rows-odd": tile(1, 1024, num_warps=1, one=True),
    "rows-short": tile(16, 64, num_warps=2, one=True),
    "rows-long": tile(1, 4096, stages=3, num_warps=8),
    "rows-few": tile(1, 4096, 64, stages=3, num_warps=8),
    "columns": tile(64, 32, 32, stages=3),
    "columns-middle": tile(16, 128, 2, stages=3),
    "columns-odd": tile(16, 64, 20),
    "columns-few": tile(16, 128, 128),
    "middle": tile(16, 128, stages=3, outer=True),
}


def reduction(kernel: str, label: str, dtype: str, registers: int, spills: int, **more: Any) -> Specimen:
    (outer_stride, result_stride, term_stride), (n_results, n_terms), constants = REDUCTIONS[label]
    constants = INDEXED.get(label, constants) if more.get("INDICES") else constants
    result_unit = gcd(outer_stride, result_stride, n_terms, 8) if term_stride == 1 else 1
    term_unit = gcd(outer_stride, term_stride, n_results, 8) if term_stride > 1 else 1
    arguments: dict[str, Any] = {"x_ptr": f"*{dtype}", "y_ptr": f"*{dtype}", "partial_ptr": "*fp32", "arrived_ptr": "*i32"}
    arguments |= {"outer_stride": outer_stride // (result_unit * term_unit), "result_stride": result_stride // result_unit}
    arguments |= {"term_stride": term_stride // term_unit, "n_results": n_results // term_unit, "n_terms": n_terms // result_unit}
    arguments |= {"RESULT_UNIT": result_unit, "TERM_UNIT": term_unit, **constants, **more}
    name = f"{label}-{'indices-' if more.get('INDICES') else ''}{dtype}"
    return Specimen(f"kernels/reductions/{kernel}", name, registers, AHEAD_BYTES, spills, arguments=arguments)


# Triton 3.8 spills a pair of registers of one for compute capability 8.0.
LIBRARY = [
    reduction("sum.py:sum_kernel", label, dtype, 128, 8 * (label == "middle"))
    for label in REDUCTIONS
    for dtype in ("fp32", "bf16")
]
INDEX_OF = {"index_ptr": "*i64", "partial_index_ptr": "*i64"}
LIBRARY += [
    # For compute capability 8.0 the largest of all, in float32, is compiled with a pair of registers too few.
    reduction("max_tile.py:max_kernel", label, dtype, 128, 8 * (label == "all-small"), **INDEX_OF, INDICES=indices)
    for label in REDUCTIONS
    for dtype in ("fp32", "bf16")
    for indices in (False, True)
    if indices != label.startswith("all")
]
COUNTS = {"counts_ptr": "*i64", "x_stride": 1, "low": 0.0, "high": 1.0, "n_elements": 2**28}
LIBRARY += [
    Specimen(
        "kernels/reductions/histogram.py:histogram_bins_kernel",
        f"{bins}-{dtype}",
        128,
        16_384,  # the counts, or the bins of a block on their way to other threads
        16 if bins == 512 else 0,  # a count a thread for every 32 bins
        arguments={
            "x_ptr": f"*{dtype}",
            **COUNTS,
            "n_bins": bins,
            "n_copies": copies,
            "BINS": width,
            "BLOCK": block,
            "LOCAL": local,
            "num_warps": num_warps,
        },
    )
    for bins, copies, width, block, local, num_warps in (
        (16, 1, 32, 4096, True, 4),
        (512, 1, 512, 4096, True, 8),
        (4096, 128, 1, 512, False, 4),
    )
    for dtype in ("fp32", "bf16", "u8", "i32", "i64")
]

IN_REDUCTIONS = "snippets/reductions"
MEETING = {**X_AND_OUT, "partial_ptr": "*fp32", "arrived_ptr": "*i32", "n_elements": 100_000}
SPECIMENS = [
    *LIBRARY,
    Specimen(
        f"{IN_REDUCTIONS}/tile.py:reduce_tile_kernel",
        "call",
        96,
        2048,
        arguments={
            **X_AND_OUT,
            "result_stride": 1,
            "term_stride": 1500,
            "n_results": 1500,
            "n_terms": 100,
            "BLOCK_M": 64,
            "BLOCK_N": 16,
        },
    ),
    called(f"{IN_REDUCTIONS}/total.py:meet_kernel", **MEETING, BLOCK=2048, PROGRAMS=16, WAY="last"),
    called(f"{IN_REDUCTIONS}/twice.py:meet_again_kernel", **MEETING, BLOCK=2048, PROGRAMS=512, WAY="atomic"),
    called(f"{IN_REDUCTIONS}/benchmark_total.py:timed_meet_kernel", **MEETING, BLOCK=4096, PROGRAMS=512, WAY="lock"),
    called(
        f"{IN_REDUCTIONS}/benchmark_atomics.py:contend_kernel",
        counts_ptr="*i32",
        n_places=256,
        SCATTERED=True,
        SEM="acq_rel",
        BLOCK=1024,
    ),
    called(
        f"{IN_REDUCTIONS}/lock.py:locked_max_kernel",
        x_ptr="*fp32",
        best_ptr="*fp32",
        place_ptr="*i32",
        lock_ptr="*i32",
        n_elements=10_000,
        BLOCK=256,
    ),
    called(f"{IN_REDUCTIONS}/scan.py:cumsum_kernel", **X_AND_Y, n_columns=300, BLOCK=64),
    called(f"{IN_REDUCTIONS}/scan.py:recurrence_kernel", decay_ptr="*fp32", **X_AND_Y, BLOCK=128),
    called(f"{IN_REDUCTIONS}/leftover.py:forgetful_kernel", **X_AND_OUT, partial_ptr="*fp32", arrived_ptr="*i32", BLOCK=256),
    called(f"{IN_REDUCTIONS}/nan.py:two_maxima_kernel", x_ptr="*fp32", plain_ptr="*fp32", careful_ptr="*fp32", BLOCK=64),
    called(f"{IN_REDUCTIONS}/norm.py:row_length_kernel", **MEETING, BLOCK=1024, PROGRAMS=16),
]
