"""The kernels of snippets/block_model."""

from scripts.launches import X_AND_OUT, Specimen, called

SPECIMENS = [
    called("snippets/block_model/tile.py:double_matrix_kernel", **X_AND_OUT, n_columns=16, BLOCK_M=4, BLOCK_N=8),
    called("snippets/block_model/shapes.py:coordinates_kernel", line_ptr="*i64", tile_ptr="*i64", cube_ptr="*i64"),
    called("snippets/block_model/refused.py:add_ranges_kernel", out_ptr="*i32", A=16, B=16),
    called("snippets/block_model/table.py:times_table_kernel", out_ptr="*i32", SIDE=16),
    called("snippets/block_model/layout.py:lane_thread_kernel", out_ptr="*i32", BLOCK=1024),
    called("snippets/block_model/cuda_threads.py:double_many_kernel", **X_AND_OUT, n=1000, BLOCK=256),
    called("snippets/block_model/threads.py:double_block_kernel", **X_AND_OUT, BLOCK=64),
    called("snippets/block_model/warps.py:double_all_kernel", **X_AND_OUT, n_elements=2**26, BLOCK=64),
    called("snippets/block_model/compile_time.py:iterate_kernel", x_ptr="*fp32", STEPS=8, BLOCK=128),
    called("snippets/block_model/compile_time.py:iterate_unrolled_kernel", x_ptr="*fp32", STEPS=8, BLOCK=128),
    called(
        "snippets/block_model/variants.py:scale_by_kernel",
        **X_AND_OUT,
        factor=2.0,
        n_elements=1000,
        BLOCK=256,
    ),
    called("snippets/block_model/order.py:take_ticket_kernel", counter_ptr="*i32", ticket_ptr="*i32", place_ptr="*i32"),
    called("snippets/block_model/counter.py:plain_count_kernel", counter_ptr="*i32"),
    called("snippets/block_model/counter.py:atomic_count_kernel", counter_ptr="*i32"),
    Specimen(
        "snippets/block_model/race.py:turn_tile_kernel",
        "call",
        40,
        18_000,
        arguments={**X_AND_OUT, "SIDE": 64},
    ),
    called(
        "snippets/block_model/race.py:pass_on_kernel",
        **X_AND_OUT,
        ROUNDS=100,
        BLOCK=128,
        SAFE=False,
    ),
    called("snippets/block_model/exercise.py:set_zero_kernel", out_ptr="*fp32", n_elements=1000, BLOCK=256),
]
