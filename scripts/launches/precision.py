"""The kernels of snippets/precision; 8-bit floats, which not every one of the GPUs here has, are compiled in the bake alone."""

from typing import Any

from scripts.launches import Specimen

KERNEL = "snippets/precision/ways.py:precise_matmul_kernel"
SIZES = {"M": 8192, "N": 8192, "K": 8192, "b_row_stride": 8192, "b_column_stride": 1, "a_scale_ptr": None, "b_scale_ptr": None}


def way(
    label: str, dtype: str, tile: tuple[int, int, int], num_stages: int, registers: int, shared: int, spills: int = 0, **told: Any
) -> Specimen:
    arguments: dict[str, Any] = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), f"*{dtype}") | SIZES
    arguments |= {"PRECISION": "ieee", "HALF_SUMS": False, "PROMOTE": None} | told
    arguments |= dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    return Specimen(
        KERNEL, label, registers, shared, spills, arguments=arguments, options={"num_warps": 8, "num_stages": num_stages}
    )


SPECIMENS = [
    way("ieee", "fp32", (128, 128, 16), 3, 255, 50_000),
    way("tf32", "fp32", (128, 128, 32), 4, 200, 132_000, PRECISION="tf32"),
    way("tf32x3", "fp32", (128, 128, 32), 3, 255, 132_000, PRECISION="tf32x3"),
    way("bf16x3", "fp32", (128, 128, 32), 3, 255, 132_000, PRECISION="bf16x3"),
    way("bf16x6", "fp32", (128, 128, 32), 3, 255, 132_000, 64, PRECISION="bf16x6"),
    way("fp16", "fp16", (128, 256, 64), 3, 255, 148_000),
    way("fp16_sums", "fp16", (128, 256, 64), 3, 255, 148_000, HALF_SUMS=True),
    way("bf16", "bf16", (128, 256, 64), 3, 255, 148_000),
]
SPECIMENS.append(
    Specimen(
        "snippets/precision/two_halves.py:two_halves_kernel",
        "call",
        200,
        16_400,
        spills=8,
        arguments={
            **dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp32"),
            "N": 64,
            "K": 64,
            "THREE": True,
            "SIDE": 32,
            "STEP": 32,
        },
    )
)
SPECIMENS += [
    Specimen(
        "snippets/precision/one_tile.py:precise_tile_kernel",
        label,
        255,
        8200,
        arguments={**dict.fromkeys(("a_ptr", "b_ptr"), f"*{dtype}"), "c_ptr": "*fp32", "SIDE": 32, "PRECISION": precision},
    )
    for label, dtype, precision in (("half", "fp16", None), ("tf32", "fp32", "tf32"), ("ieee", "fp32", "ieee"))
]
