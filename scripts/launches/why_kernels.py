"""The kernels of snippets/why_kernels."""

from scripts.launches import SHARED_BYTES, Specimen, called

HALF = {"x_ptr": "*bf16", "bias_ptr": "*bf16", "y_ptr": "*bf16", "n_columns": 16384, "p": 0.1, "seed": 42}
SPECIMENS = [
    Specimen(
        "snippets/why_kernels/one_kernel.py:five_in_one_kernel",
        "call",
        96,
        SHARED_BYTES,
        arguments={"x_ptr": "*fp32", "y_ptr": "*fp32", "n_columns": 4000, "BLOCK": 4096},
    ),
    called("snippets/why_kernels/fused.py:bias_gelu_dropout_kernel", **HALF, BLOCK=1024),
    called("snippets/why_kernels/fused.py:four_at_once_kernel", **HALF, threshold=214748364, BLOCK=2048),
    Specimen(
        "snippets/why_kernels/novel.py:clipped_norm_kernel",
        "call",
        96,
        SHARED_BYTES,
        arguments={"x_ptr": "*bf16", "y_ptr": "*bf16", "n_columns": 4096, "BLOCK": 4096},
    ),
    called("snippets/why_kernels/exercise.py:wave_kernel", x_ptr="*bf16", y_ptr="*bf16", n_elements=2**27, BLOCK=1024),
]
