"""*Autograd*."""

from scripts.launches import SHARED_BYTES, X_AND_Y, Specimen, called

GRADIENT = {"dy_ptr": "*fp32", "dx_ptr": "*fp32"}
SPECIMENS = [
    called("snippets/autograd/pair.py:row_gradient_kernel", y_ptr="*fp32", **GRADIENT, n_columns=300, BLOCK=512),
    # Beside the library's kernel for the same rows, which loads dy twice.
    Specimen(
        "snippets/autograd/pair.py:row_gradient_kernel",
        "16384-fp32",
        64,
        SHARED_BYTES,
        arguments={"y_ptr": "*fp32", **GRADIENT, "n_columns": 16384, "BLOCK": 16384},
        options={"num_warps": 32},
    ),
    called("snippets/autograd/recompute.py:recomputing_backward_kernel", x_ptr="*fp32", **GRADIENT, n_columns=300, BLOCK=512),
    called("snippets/autograd/train.py:wave_forward_kernel", **X_AND_Y, n_elements=3000, BLOCK=1024),
    called("snippets/autograd/train.py:wave_backward_kernel", x_ptr="*fp32", **GRADIENT, n_elements=3000, BLOCK=1024),
    called("snippets/autograd/log_softmax.py:log_softmax_forward_kernel", **X_AND_Y, n_columns=300, BLOCK=512),
    called("snippets/autograd/log_softmax.py:log_softmax_backward_kernel", y_ptr="*fp32", **GRADIENT, n_columns=300, BLOCK=512),
]
