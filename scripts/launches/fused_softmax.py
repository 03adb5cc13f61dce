"""The kernels of snippets/fused_softmax."""

from scripts.launches import X_AND_Y, called

SPECIMENS = [
    called("snippets/fused_softmax/vectors.py:vector_softmax_kernel", **X_AND_Y, n_vectors=125, VECTOR=8, BLOCK=1024),
    called("snippets/fused_softmax/one_row.py:row_softmax_kernel", **X_AND_Y, n_columns=781, BLOCK=1024),
    called("snippets/fused_softmax/overflow.py:unshifted_kernel", **X_AND_Y, row_stride=3, n_columns=3, BLOCK=4),
    called("snippets/fused_softmax/zero_fill.py:zero_filled_kernel", **X_AND_Y, row_stride=5, n_columns=5, BLOCK=8),
    called(
        "snippets/fused_softmax/log_softmax.py:log_softmax_kernel",
        **X_AND_Y,
        x_row_stride=300,
        y_row_stride=300,
        n_columns=300,
        BLOCK=512,
    ),
]
