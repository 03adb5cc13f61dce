"""A residual added on the way into RMS norm, forward and backward."""

from scripts.launches import DTYPES, Specimen

FILE = "kernels/norm/add_rows.py"
FORWARD = {64: 90, 781: 108, 1024: 72, 4096: 52, 5001: 144, 8192: 72}
BACKWARD = {64: 184, 781: 156, 1024: 248, 4096: 112, 5001: 128, 8192: 128}
# Lengths that 8 does not divide are loaded element by element.
FORWARD_SPILLS = {781: 64}
BACKWARD_SPILLS = {5001: 80}


def both(kernel: str, launcher: str, registers: dict[int, int], shared: int, spills: dict[int, int]) -> list[Specimen]:
    name = f"{FILE}:{kernel}"
    return [
        Specimen(name, f"{length}-{dtype}", bound, shared, spills.get(length, 0), launcher, (4096, length), dtype)
        for length, bound in registers.items()
        for dtype in (DTYPES if length % 16 else ("fp32", "bf16"))
    ]


SPECIMENS = [
    *both("add_rms_norm_kernel", "add_rms_norm_tile", FORWARD, 9000, FORWARD_SPILLS),
    *both("add_rms_norm_backward_kernel", "add_rms_norm_tile_backward", BACKWARD, 144_000, BACKWARD_SPILLS),
]
