"""The kernels of snippets/gated_activations."""

from scripts.launches import X_AND_Y, called

FOLDER = "snippets/gated_activations"
GATED = {"gate_ptr": "*fp32", "up_ptr": "*fp32", "y_ptr": "*fp32", "n_elements": 5000, "BLOCK": 1024}
BACKWARD = {f"{name}_ptr": "*fp32" for name in ("gate", "up", "dy", "dgate", "dup")} | {"n_elements": 5000, "BLOCK": 1024}
SPECIMENS = [
    called(f"{FOLDER}/one_kernel.py:swiglu_kernel", **GATED),
    called(f"{FOLDER}/one_kernel.py:swiglu_backward_kernel", **BACKWARD),
    called(f"{FOLDER}/digits.py:gelu_by_sum_kernel", **X_AND_Y, BLOCK=4),
    called(f"{FOLDER}/relu_squared.py:squared_kernel", **GATED),
    called(f"{FOLDER}/relu_squared.py:squared_backward_kernel", **BACKWARD),
]
