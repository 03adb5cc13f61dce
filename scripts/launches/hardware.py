"""The kernels of snippets/hardware."""

from scripts.launches import X_AND_OUT, Specimen, called

SPECIMENS = [
    called("snippets/hardware/one_program.py:amplify_kernel", **X_AND_OUT, factor=3.0, n_elements=1_000_000, BLOCK=1024),
    Specimen(
        "snippets/hardware/resident.py:staged_product_kernel",
        "call",
        255,
        104 * 1024,
        arguments={"a_ptr": "*bf16", "b_ptr": "*bf16", "c_ptr": "*fp32", "K": 512, "SIDE": 128, "STEP": 64},
    ),
]
