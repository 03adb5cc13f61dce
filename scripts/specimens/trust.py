"""The kernels of snippets/trust."""

from scripts.specimens import X_AND_Y, called

SPECIMENS = [
    called("snippets/trust/planted_store.py:unmasked_store_kernel", out_ptr="*i32", BLOCK=256),
    called("snippets/trust/tolerance.py:forgetful_softmax_kernel", **X_AND_Y, n_columns=8000, BLOCK=8192),
]
