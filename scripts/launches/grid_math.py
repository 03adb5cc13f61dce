"""The kernels of snippets/grid_math."""

from scripts.launches import TILE_OF, X_AND_OUT, Specimen, called

IN = "snippets/grid_math"
SPECIMENS = [
    called(
        f"{IN}/tiles.py:double_tile_kernel",
        **TILE_OF,
        x_row_stride=256,
        x_column_stride=1,
        out_row_stride=256,
        out_column_stride=1,
        BLOCK_M=64,
        BLOCK_N=64,
    ),
    called(f"{IN}/owners.py:tile_owner_kernel", out_ptr="*i64", n_rows=5, n_columns=10, BLOCK_M=2, BLOCK_N=4),
    called(f"{IN}/broadcast.py:show_offsets_kernel", shapes_ptr="*i32", tile_ptr="*i32", stride=100),
    called(f"{IN}/diagonal.py:diagonal_kernel", out_ptr="*fp32", stride=16, BLOCK=16),
    called(f"{IN}/column_major.py:gather_kernel", **X_AND_OUT, N=4, SWAPPED=True),
    Specimen(
        f"{IN}/views.py:negate_view_kernel",
        "call",
        64,
        1024,  # Triton 3.6 rearranges the tile there, later versions do not
        arguments={**TILE_OF, "row_stride": 60, "column_stride": 2, "BLOCK": 16},
    ),
    called(f"{IN}/load_widths.py:copy_view_kernel", **TILE_OF, row_stride=640, column_stride=1, BLOCK=64),
    called(f"{IN}/ignored_strides.py:flat_copy_kernel", **X_AND_OUT, n_elements=6, BLOCK=8),
    called(
        f"{IN}/batch.py:add_one_kernel",
        **TILE_OF,
        batch_stride=7000,
        row_stride=70,
        column_stride=1,
        BLOCK_M=32,
        BLOCK_N=64,
    ),
    called(f"{IN}/bias.py:bias_tile_kernel", **X_AND_OUT, bias_ptr="*fp32", M=50, N=30, BLOCK_M=16, BLOCK_N=16),
    called(f"{IN}/forms.py:fill_kernel", out_ptr="*fp32", n_elements=1000, BLOCK=128),
    called(f"{IN}/wrap.py:far_offsets_kernel", first_ptr="*i64", pid=2**21, BLOCK=1024, WIDE=False),
    called(f"{IN}/many.py:folded_kernel", **TILE_OF, tiles_down=2, tiles_across=2, BLOCK_M=8, BLOCK_N=32),
    called(f"{IN}/limits.py:count_programs_kernel", count_ptr="*i32"),
    called(f"{IN}/large.py:fill_ones_kernel", out_ptr="*i8", n_elements=2**31 + 5000, BLOCK=1024, WIDE=True),
    called(f"{IN}/launch_order.py:ticket_kernel", counter_ptr="*i32", tickets_ptr="*i32", n_y=400),
    called(f"{IN}/benchmark.py:copy_tile_kernel", **TILE_OF, row_stride=256, BLOCK_M=32, BLOCK_N=128, WIDE=True),
    called(f"{IN}/check.py:count_owners_kernel", counts_ptr="*i32", n_elements=1000, step=250, BLOCK=256),
]
