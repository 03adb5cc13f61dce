"""Group norm, forward and backward: groups that stay on chip, images, and long groups of few places."""

from scripts.launches import DTYPES, Specimen

FILE = "kernels/norm/group_rows.py"
# Samples, channels and places; 32 groups in each.
SHAPES = {"32x256x49": (32, 256, 7, 7), "8x320x4096": (8, 320, 64, 64), "4x2048x1": (4, 2048), "2x512x1001": (2, 512, 1001)}
FORWARD = {"32x256x49": 96, "8x320x4096": 56, "4x2048x1": 44, "2x512x1001": 60}
BACKWARD = {"32x256x49": 168, "8x320x4096": 84, "4x2048x1": 48, "2x512x1001": 136}


def both(kernel: str, launcher: str, registers: dict[str, int]) -> list[Specimen]:
    return [
        Specimen(f"{FILE}:{kernel}", f"{shape}-{dtype}", bound, 256, 0, launcher, SHAPES[shape], dtype)
        for shape, bound in registers.items()
        for dtype in DTYPES
    ]


SPECIMENS = [
    *both("group_norm_kernel", "group_norm_launch", FORWARD),
    *both("group_norm_backward_kernel", "group_norm_backward_launch", BACKWARD),
]
