"""Dropout, GELU and the gated units: lengths that their blocks divide, that 16 divides, and that nothing divides."""

from typing import Any

from scripts.launches import Specimen

LENGTHS = (2**28, 100_000, 98_433)
MATRICES = ((8192, 4096), (100, 90), (777, 1001), (100_001, 3))


def line(kernel: str, launcher: str, registers: int, spills: int = 0) -> list[Specimen]:
    """Over a line of elements."""
    shapes = [((n,), dtype) for n in LENGTHS for dtype in ("fp32", "bf16")]
    return [Specimen(kernel, f"{shape[0]}-{dtype}", registers, 0, spills, launcher, shape, dtype) for shape, dtype in shapes]


def matrix(kernel: str, launcher: str, registers: int, shared: int, spills: int = 0) -> list[Specimen]:
    """Over the rows of a matrix."""
    cases = [(f"{m}x{n}-{dtype}", (m, n), dtype) for m, n in MATRICES for dtype in ("fp32", "bf16")]
    return [Specimen(kernel, label, registers, shared, spills, launcher, shape, dtype) for label, shape, dtype in cases]


def kinds(kernel: str, registers: int, pointers: str, **numbers: int) -> list[Specimen]:
    """Every kind of activation, in float16; the launchers' defaults name one of them."""
    arguments: dict[str, Any] = {f"{pointer}_ptr": "*fp16" for pointer in pointers.split()} | numbers | {"BLOCK": 1024}
    return [Specimen(kernel, kind, registers, 0, arguments=arguments | {"KIND": kind}) for kind in ("silu", "none", "tanh")]


ALONE = {"x_ptr": "*fp16", "residual_ptr": None, "y_ptr": "*fp16", "n_elements": 2**20, "threshold": 5, "scale": 2.0}
ALONE |= {"seed": 2**40, "RESIDUAL": False, "BLOCK": 1024, "VECTOR": 8, "EVEN": True}
# Halves of one matrix: rows apart.
APART = {"gate_row_stride": 8192, "up_row_stride": 8192, "y_row_stride": 4096, "n_columns": 4096}
SUMS = {"sums_ptr": "*fp32", "dbias_ptr": "*bf16", "n_sums": 256, "n_columns": 4096, "ROWS": 64, "BLOCK": 32}
SPECIMENS = [
    *line("kernels/dropout/dropout.py:dropout_kernel", "dropout_flat", 104, spills=8),
    Specimen("kernels/dropout/dropout.py:dropout_kernel", "alone", 40, 0, arguments=ALONE),
    *line("kernels/activations/gelu.py:gelu_kernel", "gelu_flat", 40),
    *kinds("kernels/activations/gelu.py:gelu_kernel", 40, "x y", n_elements=100_000),
    *line("kernels/activations/gelu.py:gelu_backward_kernel", "gelu_flat_backward", 48, spills=8),
    *kinds("kernels/activations/gelu.py:gelu_backward_kernel", 48, "x dy dx", n_elements=100_000),
    *matrix("kernels/activations/gelu_bias.py:gelu_bias_kernel", "gelu_bias_forward", 80, 4096, spills=16),
    *matrix("kernels/activations/gelu_bias.py:gelu_bias_backward_kernel", "gelu_bias_backward", 164, 4096, spills=8),
    Specimen("kernels/activations/gelu_bias.py:gelu_bias_sums_kernel", "4096", 64, 4096, arguments=SUMS),
    *line("kernels/activations/gated_unit.py:gated_unit_kernel", "gated_unit_launch", 40),
    *kinds("kernels/activations/gated_unit.py:gated_unit_kernel", 40, "gate up y", **APART),
    *line("kernels/activations/gated_unit.py:gated_unit_backward_kernel", "gated_unit_backward_launch", 64),
    *kinds("kernels/activations/gated_unit.py:gated_unit_backward_kernel", 64, "gate up dy dgate dup", **APART),
]
