"""Addition."""

from scripts.launches import DTYPES, Specimen

SPECIMENS = [
    Specimen(f"kernels/add.py:{kernel}", f"{length}-{dtype}", 40, 0, 0, "add_flat", (length,), dtype)
    for kernel, length in (("add_kernel", 2**28), ("add_ragged_kernel", 98_433))
    for dtype in DTYPES
]
