"""*Softmax, step by step*."""

from scripts.launches import SHARED_BYTES, X_AND_OUT, X_AND_Y, Specimen, called

BF16 = {"x_ptr": "*bf16", "y_ptr": "*bf16"}
AHEAD = {**BF16, "n_rows": 16384, "n_columns": 4096, "BLOCK": 4096, "STAGES": 2}
SPECIMENS = [
    called("snippets/softmax_ladder/two_walks.py:running_softmax_kernel", **X_AND_Y, n_columns=10_000, BLOCK=1024),
    called("snippets/softmax_ladder/several_rows.py:several_rows_kernel", **BF16, n_rows=2**20, n_columns=64, ROWS=16, BLOCK=64),
    # The next row is kept in shared memory while this one is worked on.
    Specimen("snippets/softmax_ladder/persistent.py:persistent_softmax_kernel", "call", 64, 8192 + SHARED_BYTES, arguments=AHEAD),
    called("snippets/softmax_ladder/online.py:three_walks_kernel", **BF16, n_columns=131072, BLOCK=2048),
    called("snippets/softmax_ladder/online.py:online_softmax_kernel", **BF16, n_columns=131072, BLOCK=2048),
    called("snippets/softmax_ladder/minus_infinity.py:masked_out_kernel", **X_AND_OUT, n_columns=8, BLOCK=4, SHIFT=True),
    called("snippets/softmax_ladder/logsumexp.py:logsumexp_kernel", **X_AND_OUT, n_columns=5000, BLOCK=1024),
]
