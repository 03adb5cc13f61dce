"""The kernels of snippets/capstone, for the longest rows that their page times."""

from typing import Any

from scripts.launches import SHARED_BYTES, Specimen

IN = "snippets/capstone"
Arguments = dict[str, Any]
ROW: Arguments = {"n_columns": 8192, "BLOCK": 8192}
FORWARD: Arguments = {"x_ptr": "*bf16", "y_ptr": "*bf16"}
BACKWARD: Arguments = {"dy_ptr": "*bf16", "x_ptr": "*bf16", "weight_ptr": "*bf16", "rstd_ptr": "*fp32", "dx_ptr": "*bf16"}
BACKWARD |= {"parts_ptr": "*fp32", "n_rows": 4096}
WEIGHTED: Arguments = {"weight_ptr": "*bf16", "rstd_ptr": "*fp32", "eps": 1e-5}


def of(kernel: str, asked: Arguments, registers: int, shared: int = SHARED_BYTES, warps: int = 16) -> Specimen:
    return Specimen(f"{IN}/{kernel}", "call", registers, shared, arguments=asked, options={"num_warps": warps})


SPECIMENS = [
    of("softmax.py:capstone_softmax_kernel", FORWARD | ROW, 64),
    of("softmax.py:capstone_softmax_backward_kernel", {"dy_ptr": "*bf16", "y_ptr": "*bf16", "dx_ptr": "*bf16"} | ROW, 64),
    of("layer_norm.py:capstone_layer_norm_kernel", {**FORWARD, **WEIGHTED, "bias_ptr": "*bf16", "mean_ptr": "*fp32"} | ROW, 64),
    of("layer_norm.py:capstone_layer_norm_backward_kernel", {**BACKWARD, "mean_ptr": "*fp32"} | ROW, 128, 2**14),
    of("rms_norm.py:capstone_rms_norm_kernel", {**FORWARD, **WEIGHTED} | ROW, 64),
    of("rms_norm.py:capstone_rms_norm_backward_kernel", BACKWARD | ROW, 128, 2**14),
    of("dropout.py:capstone_dropout_kernel", {**FORWARD, "n": 2**26, "p": 0.1, "seed": 1, "BLOCK": 1024}, 64, warps=4),
]
