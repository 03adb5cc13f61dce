"""The kernels of snippets/masking."""

from scripts.launches import X_AND_OUT, called

IN = "snippets/masking"
SIZED = {**X_AND_OUT, "n_elements": 10_001, "BLOCK": 1024}
SPECIMENS = [
    called(f"{IN}/edge.py:edge_kernel", out_ptr="*i1", n_elements=10, BLOCK=4),
    called(f"{IN}/largest.py:block_largest_kernel", **X_AND_OUT, n_elements=10, BLOCK=4),
    called(f"{IN}/fillers.py:fold_kernel", **X_AND_OUT, n_elements=5, OTHER=0.0, BLOCK=8),
    called(f"{IN}/no_other.py:undefined_kernel", **X_AND_OUT, n_elements=5, BLOCK=8),
    called(f"{IN}/lanes.py:shifted_kernel", **X_AND_OUT, n_elements=100, OTHER=0.0, BLOCK=128),
    called(f"{IN}/exponentials.py:exp_sum_kernel", **X_AND_OUT, n_elements=5, OTHER=0.0, BLOCK=8),
    called(f"{IN}/spill.py:spill_double_kernel", x_ptr="*fp32", BLOCK=4),
    called(f"{IN}/block_means.py:block_mean_kernel", **X_AND_OUT, n_elements=1000, BLOCK=256),
    called(f"{IN}/unmasked.py:unmasked_sum_kernel", **X_AND_OUT, BLOCK=1024),
    called(f"{IN}/neighbor.py:unmasked_double_kernel", x_ptr="*fp32", BLOCK=1024),
    called(f"{IN}/fault.py:far_load_kernel", **X_AND_OUT, distance=2**35),
    called(f"{IN}/tiles.py:scale_tile_kernel", **X_AND_OUT, scale=3.0, M=6, N=10, BLOCK_M=4, BLOCK_N=4),
    called(f"{IN}/half_mask.py:tile_sum_kernel", **X_AND_OUT, M=20, N=20, ROWS=True, COLS=True, BLOCK=16),
    called(f"{IN}/widths.py:negate_kernel", **SIZED, MASK=True),
    called(f"{IN}/promises.py:hinted_negate_kernel", **X_AND_OUT, n=10_001, HINT="none", BLOCK=1024),
    called(f"{IN}/split.py:split_negate_kernel", **SIZED),
    called(f"{IN}/benchmark.py:masked_negate_kernel", **SIZED, MASK=True, SPLIT=False),
    called(f"{IN}/even.py:even_negate_kernel", **X_AND_OUT, BLOCK=256),
    called(f"{IN}/false_promise.py:promised_kernel", out_ptr="*i32", n_elements=1001, BLOCK=1024),
    called(f"{IN}/row_means.py:row_means_kernel", **X_AND_OUT, M=10, N=100, BLOCK_M=4, BLOCK_N=128),
]
