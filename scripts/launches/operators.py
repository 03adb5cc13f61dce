"""The kernels of snippets/operators."""

from scripts.launches import called

SPECIMENS = [
    called("snippets/operators/softsign.py:softsign_kernel", x_ptr="*fp32", y_ptr="*fp32", n_elements=1000, BLOCK=1024),
]
