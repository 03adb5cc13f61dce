"""The Triton kernel of the configuration picker, in the smallest, a middle and the largest tile that do not spill."""

from typing import Any

from scripts.launches import Specimen

PATH = "snippets/landscape/measure.py:picker_kernel"
SIZES: dict[str, Any] = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*bf16") | {"M": 4096, "N": 4096, "K": 4096, "GROUP_M": 8}


def picked(m: int, n: int, k: int, num_warps: int, num_stages: int, registers: int) -> Specimen:
    blocks = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}
    options = {"num_warps": num_warps, "num_stages": num_stages}
    label = f"{m}x{n}x{k}x{num_warps}x{num_stages}"
    shared = num_stages * (m + n) * k * 2 + 1024
    return Specimen(PATH, label, registers, shared, arguments=SIZES | blocks, options=options)


SPECIMENS = [picked(64, 64, 32, 4, 3, 104), picked(128, 128, 64, 8, 3, 184), picked(128, 256, 64, 8, 3, 255)]
