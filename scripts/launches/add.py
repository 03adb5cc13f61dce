"""Addition."""

from scripts.launches import DTYPES, Specimen

SPECIMENS = [
    Specimen("kernels/add.py:add_kernel", f"{length}-{dtype}", 40, 0, 0, "add_flat", (length,), dtype)
    for length in (2**28, 98_433)
    for dtype in DTYPES
]
