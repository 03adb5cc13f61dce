"""Dropout, GELU and the gated units: lengths that their blocks divide, that 16 divides, and that nothing divides."""

from scripts.specimens import DTYPES, Specimen

LENGTHS = (2**28, 100_000, 98_433)
MATRICES = ((8192, 4096), (100, 96), (777, 1000), (777, 1001), (100_000, 3))


def flat(kernel: str, launcher: str, registers: int) -> list[Specimen]:
    """Over a line of elements."""
    lengths = [(f"{n}-{dtype}", (n,), dtype) for n in LENGTHS for dtype in DTYPES]
    return [Specimen(kernel, label, registers, 0, 0, launcher, shape, dtype) for label, shape, dtype in lengths]


def rows(kernel: str, launcher: str, registers: int, shared: int = 0) -> list[Specimen]:
    """Over the rows of a matrix."""
    cases = [(f"{m}x{n}-{dtype}", (m, n), dtype) for m, n in MATRICES for dtype in DTYPES]
    return [Specimen(kernel, label, registers, shared, 0, launcher, shape, dtype) for label, shape, dtype in cases]


def kinds(kernel: str, registers: int, pointers: tuple[str, ...], strides: tuple[str, ...], size: str) -> list[Specimen]:
    """The other kinds of activation, which the launchers' defaults do not name."""
    numbers = {"BLOCK": 1024, "num_warps": 4, **dict.fromkeys(strides, 2048), size: 2048}
    arguments = {**{f"{pointer}_ptr": "*bf16" for pointer in pointers}, **numbers}
    arguments.pop("num_warps")
    return [Specimen(kernel, kind, registers, 0, arguments=arguments | {"KIND": kind}) for kind in ("silu", "none", "tanh")]


DROPOUT = {"x_ptr": "*bf16", "residual_ptr": None, "y_ptr": "*bf16", "n_elements": 2**20, "threshold": 5, "scale": 2.0}
DROPOUT |= {"seed": 2**40, "RESIDUAL": False, "BLOCK": 1024, "VECTOR": 8, "FULL": True}
STRIDES = ("gate_row_stride", "up_row_stride")
SPECIMENS = [
    *flat("kernels/dropout.py:dropout_kernel", "dropout_flat", 96),
    Specimen("kernels/dropout.py:dropout_kernel", "alone", 96, 0, arguments=DROPOUT),
    *flat("kernels/gelu.py:gelu_kernel", "gelu_flat", 96),
    *kinds("kernels/gelu.py:gelu_kernel", 96, ("x", "y"), (), "n_elements"),
    *flat("kernels/gelu.py:gelu_backward_kernel", "gelu_flat_backward", 96),
    *kinds("kernels/gelu.py:gelu_backward_kernel", 96, ("x", "dy", "dx"), (), "n_elements"),
    *rows("kernels/gelu_bias.py:gelu_bias_kernel", "gelu_bias_forward", 128, 4096),
    *rows("kernels/gelu_bias.py:gelu_bias_backward_kernel", "gelu_bias_backward", 255, 16384),
    *rows("kernels/gated_unit.py:gated_unit_kernel", "gated_unit_flat", 96),
    *kinds("kernels/gated_unit.py:gated_unit_kernel", 96, ("gate", "up", "y"), STRIDES, "n_columns"),
    *rows("kernels/gated_unit.py:gated_unit_backward_kernel", "gated_unit_flat_backward", 96),
    *kinds("kernels/gated_unit.py:gated_unit_backward_kernel", 96, ("gate", "up", "dy", "dgate", "dup"), STRIDES, "n_columns"),
]
