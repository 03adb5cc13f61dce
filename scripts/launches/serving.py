"""The kernels of snippets/serving."""

from scripts.launches import called

STEPS = {"x_ptr": "*fp32", "start_ptr": "*i64", "out_ptr": "*fp32", "WIDTH": 128}

SPECIMENS = [
    called("snippets/serving/slots.py:serving_batch_kernel", **STEPS, first=16),
    called("snippets/serving/slots.py:serving_slot_kernel", **STEPS, queue_ptr="*i32", n_requests=4096, PATIENCE=1000),
]
