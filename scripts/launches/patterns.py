"""The kernels of snippets/patterns."""

from typing import Any

from scripts.launches import SHARED_BYTES, TILE_OF, X_AND_OUT, Specimen, called

# A tile is turned in shared memory, 64 x 64 elements with some padding. Bins are counted and a row is spread there.
TURNED_BYTES, COUNTED_BYTES, ROW_BYTES = 20_000, 4096, 2048
FLAT = {**X_AND_OUT, "n_elements": 2**28}
ADD_ROW = {"row_ptr": "*fp32", "x_row_stride": 16384, "x_column_stride": 1, "out_row_stride": 16384, "out_column_stride": 1}
TEMPLATES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "square": ("square_kernel", SHARED_BYTES, {**FLAT, "BLOCK": 1024}),
    "tile": ("add_row_kernel", ROW_BYTES, {**TILE_OF, **ADD_ROW, "BLOCK_M": 16, "BLOCK_N": 256}),
    "row_sum": ("row_sum_kernel", SHARED_BYTES, {**X_AND_OUT, "row_stride": 16384, "n_columns": 16384, "BLOCK": 2048}),
    "total": ("partial_sum_kernel", SHARED_BYTES, {**FLAT, "BLOCK": 2048, "ATOMIC": True}),
    "transpose": (
        "transpose_kernel",
        TURNED_BYTES,
        {**TILE_OF, "x_row_stride": 256, "out_row_stride": 512, "BLOCK_M": 64, "BLOCK_N": 64},
    ),
    "largest": ("largest_kernel", SHARED_BYTES, {**FLAT, "BLOCK": 2048}),
    "histogram": (
        "histogram_kernel",
        COUNTED_BYTES,
        {"x_ptr": "*fp32", "counts_ptr": "*i32", "n_elements": 2**28, "BINS": 256, "BLOCK": 4096, "LOCAL": True},
    ),
}
MAPS = ("square", "tile", "transpose")
# Each template stands in its program and again, under another name, in the program that times it.
SPECIMENS = [
    Specimen(f"snippets/patterns/{program}.py:{prefix}{kernel}", "call", 96, shared, arguments=arguments)
    for name, (kernel, shared, arguments) in TEMPLATES.items()
    for program, prefix in ((name, ""), ("benchmark_maps" if name in MAPS else "benchmark_reductions", "timed_"))
] + [
    Specimen(
        "snippets/patterns/column_sum.py:column_sum_kernel",
        "call",
        64,
        ROW_BYTES,
        arguments={**X_AND_OUT, "row_stride": 300, "n_rows": 500, "n_columns": 300, "BLOCK_M": 32, "BLOCK_N": 64},
    ),
    called("snippets/patterns/half_sum.py:half_sum_kernel", x_ptr="*fp16", out_ptr="*fp32", BLOCK=4096, WIDE=True),
    called("snippets/patterns/roll.py:roll_kernel", **X_AND_OUT, source_ptr="*i32", n=5, BLOCK=8, FIXED=True),
    called("snippets/patterns/loop_variable.py:last_start_kernel", out_ptr="*i32", n=1000, BLOCK=128),
    called("snippets/patterns/lost_updates.py:count_once_kernel", count_ptr="*i32", ATOMIC=True),
    called("snippets/patterns/sum_order.py:block_sum_kernel", **X_AND_OUT, BLOCK=1024, ATOMIC=True),
    Specimen(
        "snippets/patterns/shared.py:move_tile_kernel",
        "call",
        96,
        TURNED_BYTES,
        arguments={**X_AND_OUT, "stride": 64, "BLOCK": 64, "WAY": "tl.trans"},
    ),
]
