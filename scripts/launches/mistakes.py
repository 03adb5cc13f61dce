"""The kernels of snippets/mistakes."""

from scripts.launches import X_AND_OUT, X_AND_Y, called

IN = "snippets/mistakes"
SPECIMENS = [
    called(f"{IN}/missing_mask.py:sum_wrong_kernel", **X_AND_OUT, n_columns=1000, BLOCK=1024),
    called(f"{IN}/missing_mask.py:sum_right_kernel", **X_AND_OUT, n_columns=1000, BLOCK=1024),
    called(
        f"{IN}/missing_other.py:softmax_wrong_kernel",
        **X_AND_Y,
        x_row_stride=100,
        y_row_stride=100,
        n_columns=100,
        BLOCK=128,
    ),
    called(f"{IN}/short_grid.py:increment_kernel", **X_AND_OUT, M=100, N=100, BLOCK=32),
    called(f"{IN}/dimensions.py:number_kernel", out_ptr="*fp32", stride=16, FORM="swapped", N=16),
    called(f"{IN}/strides.py:negate_flat_kernel", **X_AND_OUT, n_elements=48, BLOCK=16),
    called(f"{IN}/turned.py:double_flat_kernel", **X_AND_OUT, n_elements=6, BLOCK=8),
    called(f"{IN}/overflow.py:offset_kernel", out_ptr="*i64", row=50_000, stride=50_000, WIDE=False),
    called(f"{IN}/overflow_read.py:first_column_kernel", x_ptr="*i8", out_ptr="*i8", stride=50_000, WIDE=False),
    called(f"{IN}/and_masks.py:join_kernel", out_ptr="*i32", WORD=True, BLOCK=16),
    called(f"{IN}/half_sums.py:sum_kept_kernel", x_ptr="*fp16", out_ptr="*fp32", WIDE=False, BLOCK=4096),
    called(f"{IN}/exercise.py:row_max_broken_kernel", **X_AND_OUT, N=100, BLOCK_M=4, BLOCK_N=128),
    called(f"{IN}/solution.py:row_max_mended_kernel", **X_AND_OUT, stride=200, M=10, N=100, BLOCK_M=4, BLOCK_N=128),
]
