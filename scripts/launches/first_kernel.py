"""The kernels of snippets/first_kernel."""

from scripts.launches import X_AND_OUT, X_AND_Y, called

SPECIMENS = [
    called("snippets/first_kernel/launch.py:vector_add_kernel", **X_AND_Y, out_ptr="*fp32", n_elements=1000, BLOCK=256),
    called("snippets/first_kernel/owners.py:owner_kernel", out_ptr="*i64", n_elements=1000, BLOCK=256),
    called("snippets/first_kernel/axpy.py:axpy_kernel", a=3.0, **X_AND_Y, out_ptr="*fp32", n_elements=5000, BLOCK=1024),
    called("snippets/first_kernel/no_mask.py:maskless_kernel", **X_AND_OUT, BLOCK=256),
]
