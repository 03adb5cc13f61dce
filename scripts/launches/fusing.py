"""*Fusing around a matmul*: the kernels of its programs at the launches that the page times."""

from typing import Any

from scripts.launches import SHARED_BYTES, Specimen
from scripts.launches.matmul import EMULATED, of

SIZES: dict[str, Any] = {"M": 8192, "N": 4096, "K": 4096, "UPCAST": False}
OPTIONS: dict[str, Any] = {"num_warps": 8, "num_stages": 3}
VECTORS: dict[str, Any] = dict.fromkeys(("mean_ptr", "rstd_ptr", "u_ptr", "v_ptr"), "*fp32")


def sides(block_m: int, block_n: int, block_k: int) -> dict[str, Any]:
    return {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": 8}


def folded(dtype: str, tile: tuple[int, int, int], registers: int, shared: int, spills: int = 0) -> Specimen:
    block_m, block_n, block_k = tile
    arguments = {"x_desc": of(dtype, block_m, block_k), "w_desc": of(dtype, block_n, block_k)} | VECTORS | SIZES
    arguments |= {"y_desc": of(dtype, block_m, block_n), "y_ptr": f"*{dtype}"} | sides(*tile)
    kernel = "snippets/fusing/folded.py:folded_linear_kernel"
    return Specimen(kernel, dtype, registers, shared, spills, arguments=arguments, options=OPTIONS)


def moments(length: int, dtype: str) -> Specimen:
    arguments = {"x_ptr": f"*{dtype}", "mean_ptr": "*fp32", "rstd_ptr": "*fp32", "K": length, "eps": 1e-5, "BLOCK": length}
    kernel = "snippets/fusing/folded.py:row_moments_kernel"
    return Specimen(kernel, f"{length}-{dtype}", 64, SHARED_BYTES, arguments=arguments, options={"num_warps": 8})


RESIDUAL: dict[str, Any] = {"a_desc": of("bf16", 128, 64), "b_desc": of("bf16", 256, 64)} | SIZES | sides(128, 256, 64)
RESIDUAL |= {"residual_ptr": "*bf16", "c_ptr": "*bf16"}
SMALL: dict[str, Any] = dict.fromkeys(("x_ptr", "w_ptr", "y_ptr"), "*fp32")
SMALL |= {"M": 70, "N": 50, "K": 100, "eps": 1e-5, "SIDE": 32, "STEP": 32}
LINEAR: dict[str, Any] = dict.fromkeys(("x_ptr", "w_ptr", "bias_ptr", "y_ptr"), "*fp32") | {"M": 70, "N": 50, "K": 100}
GATED: dict[str, Any] = dict.fromkeys(("x_ptr", "gate_ptr", "up_ptr", "y_ptr"), "*fp32") | {"M": 70, "N": 50, "K": 100}
EARLY: dict[str, Any] = dict.fromkeys(("x_ptr", "w_ptr", "bias_ptr", "y_ptr"), "*fp32") | {"K": 128, "SIDE": 32}
BLOCKS: dict[str, Any] = {"SIDE": 32, "STEP": 32}
SPECIMENS = [
    folded("bf16", (128, 256, 64), 255, 232_448, EMULATED),
    folded("fp32", (64, 64, 16), 255, 80_000, EMULATED),
    moments(1024, "bf16"),
    moments(4096, "bf16"),
    moments(4096, "fp32"),
    Specimen(
        "snippets/fusing/residual.py:residual_product_kernel",
        "wide",
        255,
        232_448,
        EMULATED,
        arguments=RESIDUAL,
        options=OPTIONS,
    ),
    Specimen("snippets/fusing/rms_folded.py:rms_linear_kernel", "call", 255, 40_000, arguments=SMALL),
    Specimen("snippets/fusing/linear.py:linear_silu_kernel", "call", 255, 40_000, arguments=LINEAR | BLOCKS),
    Specimen("snippets/fusing/bias_in_loop.py:early_bias_kernel", "call", 255, 40_000, arguments=EARLY),
    Specimen("snippets/fusing/gated.py:gated_linear_kernel", "call", 255, 40_000, arguments=GATED | BLOCKS | {"STEP": 16}),
]
