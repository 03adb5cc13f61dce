"""Sums, maxima and histograms of the library, and the kernels of snippets/reductions."""

from typing import Any

from scripts.specimens import SHARED_BYTES, X_AND_OUT, X_AND_Y, Specimen, called

# Blocks that are read ahead wait in shared memory: two of them, of up to 4096 elements of four bytes.
AHEAD_BYTES = 2 * 4096 * 4 + SHARED_BYTES

# What is planned for a shape: strides of outer, results and terms, their numbers, parts; then the tile.
Reduction = tuple[tuple[int, int, int], tuple[int, int, int], dict[str, Any]]


def tile(block_m: int, block_n: int, parts: int = 1, stages: int = 3, outer: bool = False) -> dict[str, Any]:
    return {"OUTER": outer, "BLOCK_M": block_m, "BLOCK_N": block_n, "PARTS": parts, "STAGES": stages}


REDUCTIONS: dict[str, Reduction] = {
    "all": ((0, 0, 1), (1, 2**28, 1024), tile(1, 4096, 1024)),
    "all-odd": ((0, 0, 1), (1, 2**28 + 1, 1024), tile(1, 4096, 1024)),
    "rows": ((0, 4096, 1), (8192, 4096, 1), tile(1, 4096)),
    "rows-odd": ((0, 781, 1), (65536, 781, 1), tile(1, 1024)),
    "rows-short": ((0, 64, 1), (524288, 64, 1), tile(16, 64)),
    "rows-few": ((0, 2**22, 1), (16, 2**22, 64), tile(1, 4096, 64)),
    "columns": ((0, 1, 4096), (4096, 8192, 16), tile(64, 64, 16)),
    "columns-long": ((0, 1, 1024), (1024, 262144, 64), tile(64, 64, 64)),
    "columns-odd": ((0, 1, 781), (781, 65536, 64), tile(64, 64, 64)),
    "middle": ((2**20, 1, 1024), (1024, 1024, 1), tile(64, 64, outer=True)),
}


def reduction(kernel: str, label: str, dtype: str, registers: int, spills: int, **more: Any) -> Specimen:
    (outer_stride, result_stride, term_stride), (n_results, n_terms, n_parts), constants = REDUCTIONS[label]
    arguments: dict[str, Any] = {"x_ptr": f"*{dtype}", "y_ptr": f"*{dtype}", "partial_ptr": "*fp32", "arrived_ptr": "*i32"}
    arguments |= {"outer_stride": outer_stride, "result_stride": result_stride, "term_stride": term_stride}
    arguments |= {"n_results": n_results, "n_terms": n_terms, "n_parts": n_parts, **constants, **more}
    name = f"{label}-{'indices-' if more.get('INDICES') else ''}{dtype}"
    return Specimen(f"kernels/{kernel}", name, registers, AHEAD_BYTES, spills, arguments=arguments)


LIBRARY = [reduction("sum.py:sum_kernel", label, dtype, 128, 0) for label in REDUCTIONS for dtype in ("fp32", "bf16")]
INDEX_OF = {"index_ptr": "*i64", "partial_index_ptr": "*i64"}
LIBRARY += [
    reduction("max.py:max_kernel", label, dtype, 255, 0, **INDEX_OF, INDICES=indices)
    for label in REDUCTIONS
    for dtype in ("fp32", "bf16")
    for indices in (False, True)
    if indices != label.startswith("all")
]
COUNTS = {"counts_ptr": "*i64", "x_stride": 1, "low": 0.0, "high": 1.0, "n_elements": 2**28}
LIBRARY += [
    Specimen(
        "kernels/histogram.py:histogram_kernel",
        f"{bins}-{dtype}",
        128,
        16_384,  # the counts, or the bins of a block on their way to other threads
        arguments={
            "x_ptr": f"*{dtype}",
            **COUNTS,
            "n_bins": bins,
            "n_copies": copies,
            "BINS": width,
            "BLOCK": block,
            "LOCAL": local,
        },
    )
    for bins, copies, width, block, local in ((16, 1, 32, 4096, True), (512, 1, 512, 4096, True), (4096, 128, 1, 1024, False))
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
    called(f"{IN_REDUCTIONS}/norm.py:norm_kernel", **MEETING, BLOCK=1024, PROGRAMS=16),
]
