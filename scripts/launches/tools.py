"""The kernels of snippets/tools."""

from typing import Any

from scripts.launches import SHARED_BYTES, Specimen, called

SIZES: dict[str, Any] = {"M": 8192, "N": 4096, "K": 4096, "GROUP_M": 8, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}
NORM: dict[str, Any] = {"x_ptr": "*bf16", "weight_ptr": "*bf16", "rstd_ptr": "*fp32", "n_columns": 4096, "BLOCK": 4096}
CHAIN = dict.fromkeys(("x_ptr", "gate_ptr", "residual_ptr", "scale_ptr", "bias_ptr", "out_ptr"), "*bf16")

SPECIMENS = [
    called("snippets/tools/chain.py:chain_kernel", **CHAIN, n_columns=4096, BLOCK=1024),
    Specimen(
        "snippets/tools/bags.py:bag_kernel",
        "call",
        64,
        SHARED_BYTES,
        arguments={"table_ptr": "*fp32", "indices_ptr": "*i64", "starts_ptr": "*i64", "out_ptr": "*fp32", "WIDTH": 256},
        options={"num_warps": 1},
    ),
    Specimen(
        "snippets/tools/epilogue.py:product_gelu_kernel",
        "call",
        255,
        3 * (128 + 256) * 64 * 2 + 1024,
        16,
        arguments=dict.fromkeys(("a_ptr", "b_ptr", "bias_ptr", "c_ptr"), "*bf16") | SIZES,
        options={"num_warps": 8, "num_stages": 3},
    ),
    Specimen(
        "snippets/tools/norm.py:tool_norm_kernel",
        "call",
        96,
        SHARED_BYTES,
        arguments=NORM | {"y_ptr": "*bf16"},
        options={"num_warps": 8},
    ),
    Specimen(
        "snippets/tools/norm.py:tool_norm_backward_kernel",
        "call",
        168,
        9000,  # the parts change their layout on the way out
        arguments=NORM | {"dy_ptr": "*bf16", "dx_ptr": "*bf16", "parts_ptr": "*fp32", "n_rows": 16384},
        options={"num_warps": 8},
    ),
]
