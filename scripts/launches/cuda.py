"""The kernels of snippets/cuda."""

from typing import Any

from scripts.launches import SHARED_BYTES, X_AND_OUT, Specimen, called

PRODUCT: dict[str, Any] = {"M": 4096, "N": 4096, "K": 4096}
ROW = {"n_columns": 4096, "BLOCK": 4096}
TILE = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 16}
WIDE = {"GROUP_M": 8, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}


def matrices(dtype: str) -> dict[str, str]:
    return dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), dtype)


SPECIMENS = [
    called("snippets/cuda/add.py:beside_add_kernel", x_ptr="*fp32", y_ptr="*fp32", out_ptr="*fp32", n=2**26, BLOCK=1024),
    called(
        "snippets/cuda/exercise.py:scaled_add_kernel", a=2.5, x_ptr="*fp32", y_ptr="*fp32", out_ptr="*fp32", n=1023, BLOCK=1024
    ),
    *(
        Specimen(f"snippets/cuda/{path}", "call", 64, SHARED_BYTES, arguments=arguments | ROW, options={"num_warps": 8})
        for path, arguments in (
            ("row_sum.py:beside_row_sum_kernel", X_AND_OUT),
            ("row_max.py:beside_row_max_kernel", X_AND_OUT),
            ("softmax.py:beside_softmax_kernel", {"x_ptr": "*bf16", "out_ptr": "*bf16"}),
        )
    ),
    Specimen(
        "snippets/cuda/naive.py:beside_naive_kernel",
        "call",
        64,
        SHARED_BYTES,
        arguments=matrices("*fp32") | {"N": 4096, "K": 4096, "BLOCK": 256},
        options={"num_warps": 8},
    ),
    Specimen(
        "snippets/cuda/tiled.py:beside_tiled_kernel",
        "call",
        255,
        50_000,
        arguments=matrices("*fp32") | PRODUCT | TILE,
        options={"num_warps": 8, "num_stages": 3},
    ),
    Specimen(
        "snippets/cuda/tensor_cores.py:beside_product_kernel",
        "call",
        255,
        3 * (128 + 256) * 64 * 2 + 1024,
        arguments=matrices("*bf16") | PRODUCT | WIDE,
        options={"num_warps": 8, "num_stages": 3},
    ),
]
