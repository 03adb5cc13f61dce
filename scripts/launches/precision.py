"""The kernels of snippets/precision; 8-bit floats, which not every one of the GPUs here has, are compiled in the bake alone."""

from typing import Any

from scripts.launches import SHARED_BYTES, Specimen

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

ROW: dict[str, Any] = {"n_columns": 300, "eps": 1e-5, "BLOCK": 512, "q_ptr": "*i8", "scale_ptr": "*fp32"}
GIVEN = ("x_ptr", "residual_ptr", "weight_ptr", "h_ptr")
WEIGHTS: dict[str, Any] = {"x_ptr": "*fp16", "scale_ptr": "*fp32", "BLOCK_M": 16, "BLOCK_N": 32, "GROUP": 128}
SPECIMENS += [
    Specimen(
        "snippets/precision/round_to_even.py:float_to_int8_kernel",
        "call",
        40,
        SHARED_BYTES,
        arguments={"x_ptr": "*fp32", "cut_ptr": "*i8", "rounded_ptr": "*i8", "n": 2033, "BLOCK": 1024},
    ),
    *(
        Specimen(
            "snippets/precision/quantize_rows.py:norm_to_int8_kernel",
            label,
            72,
            4500,
            arguments=ROW | dict.fromkeys(GIVEN, f"*{dtype}") | {"bias_ptr": bias, "MEAN": mean} | sizes,
        )
        for label, dtype, bias, mean, sizes in (
            ("layer_norm", "fp32", "*fp32", True, {}),
            ("rms_norm", "fp32", None, False, {}),
            ("wide", "bf16", None, False, {"n_columns": 4096, "BLOCK": 4096}),
        )
    ),
    *(
        Specimen(
            "snippets/precision/weight_only.py:weight_only_silu_kernel",
            label,
            80,
            18_100,
            arguments=WEIGHTS | {"x_ptr": f"*{dtype}", "w_ptr": "*i8", "bias_ptr": "*fp32", "y_ptr": f"*{dtype}"} | sizes,
        )
        for label, dtype, sizes in (
            ("call", "fp16", {"M": 20, "N": 80, "K": 300}),
            ("decode", "bf16", {"M": 1, "N": 4096, "K": 4096}),
        )
    ),
    Specimen(
        "snippets/precision/weight_only.py:int4_linear_kernel",
        "call",
        72,
        13_600,
        arguments=WEIGHTS | {"packed_ptr": "*i8", "y_ptr": "*fp32", "M": 5, "N": 80, "K": 256},
    ),
]
