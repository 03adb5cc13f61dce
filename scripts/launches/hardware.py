"""The kernels of snippets/hardware."""

from scripts.launches import Specimen

SPECIMENS = [
    Specimen(
        "snippets/hardware/resident.py:staged_product_kernel",
        "call",
        255,
        104 * 1024,
        arguments={"a_ptr": "*bf16", "b_ptr": "*bf16", "c_ptr": "*fp32", "K": 512, "SIDE": 128, "STEP": 64},
    ),
]
