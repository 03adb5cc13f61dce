"""The kernels of snippets/hard."""

from scripts.launches import SHARED_BYTES, X_AND_OUT, X_AND_Y, Specimen, called

ROWS = {"x_ptr": "*fp32", "starts_ptr": "*i64", "out_ptr": "*fp32", "BLOCK": 1024}
RING_BYTES = 4 * 1024 * 4  # of a loop that is pipelined: four pieces of 1024 numbers
STAGED_BYTES = 3 * 2 * 64 * 2 * 128 + 64
BARRIER = {"state_ptr": "*i32", "PATIENCE": 100_000}
STATE = {"parts_ptr": "*fp32", "n": 2**26, "BLOCK": 4096}


def ringed(kernel: str, **arguments) -> Specimen:
    return Specimen(f"snippets/hard/{kernel}", "call", 96, RING_BYTES + SHARED_BYTES, arguments=arguments)


SPECIMENS = [
    Specimen(
        "snippets/hard/stages.py:looped_product_kernel",
        "call",
        255,
        STAGED_BYTES,
        arguments=dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*bf16") | {"N": 1024, "K": 1024, "BLOCK": 128},
        options={"num_warps": 8, "num_stages": 3},
    ),
    ringed("stages.py:looped_sum_kernel", **X_AND_OUT, n_columns=4096, STAGES=4),
    ringed("stages.py:conditional_sum_kernel", **X_AND_Y, out_ptr="*fp32", n_columns=4096),
    ringed("stages.py:while_sum_kernel", **X_AND_OUT, n_columns=4096),
    ringed("buffers.py:streamed_sum_kernel", **X_AND_OUT, n_columns=2**20, BLOCK=1024, STAGES=4),
    called("snippets/hard/work_queue.py:row_each_kernel", **ROWS),
    called("snippets/hard/work_queue.py:share_kernel", **ROWS, n_rows=2**15),
    called("snippets/hard/work_queue.py:queue_kernel", **ROWS, next_ptr="*i32", n_rows=2**15),
    Specimen(
        "snippets/hard/barrier.py:one_launch_kernel",
        "call",
        128,
        SHARED_BYTES,
        arguments={**X_AND_OUT, **STATE, **BARRIER, "PARTS": 1024},
    ),
    Specimen("snippets/hard/barrier.py:first_launch_kernel", "call", 128, SHARED_BYTES, arguments={"x_ptr": "*fp32", **STATE}),
    Specimen(
        "snippets/hard/barrier.py:second_launch_kernel",
        "call",
        128,
        SHARED_BYTES,
        arguments={**X_AND_OUT, **STATE, "PARTS": 1024},
    ),
    called("snippets/hard/barrier.py:meetings_kernel", **BARRIER, ROUNDS=101),
    called("snippets/hard/barrier.py:nothing_kernel", state_ptr="*i32"),
]
