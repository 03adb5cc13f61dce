"""*Attention, backward, in Gluon*: what the library launches before and after its kernel in Gluon, which is no Triton kernel.

Gluon's kernels are compiled for Hopper alone, by their own programs and tests.
"""

from typing import Any

from scripts.launches import Specimen

FILE = "kernels/attention/gluon_backward.py"
HEADS, LENGTH = 32, 4096


def strides(*names: str) -> dict[str, int]:
    """Of contiguous tensors with heads of 128."""
    found: dict[str, int] = {}
    for name in names:
        found |= {f"{name}_batch_stride": HEADS * LENGTH * 128, f"{name}_head_stride": LENGTH * 128, f"{name}_row_stride": 128}
    return found


def prepare(width: int, dlse: bool) -> Specimen:
    given: dict[str, Any] = {"out_ptr": "*bf16", "dout_ptr": "*bf16", "dlse_ptr": "*fp32" if dlse else None}
    given |= dict.fromkeys(("lse_ptr", "limit_ptr", "delta_ptr", "sum_ptr"), "*fp32") | strides("out", "dout")
    given |= {"n_heads": HEADS, "length": LENGTH, "padded": LENGTH, "WIDTH": width, "BLOCK": 4096 // width}
    label, options = f"{width}-{'dlse' if dlse else 'plain'}", {"num_warps": 4}
    return Specimen(f"{FILE}:attention_prepare_kernel", label, 64, 512, arguments=given, options=options)


def finish(width: int) -> Specimen:
    given: dict[str, Any] = {"sum_ptr": "*fp32", "dq_ptr": "*bf16", **strides("dq"), "n_heads": HEADS, "length": LENGTH}
    given |= {"scale": 0.1, "WIDTH": width, "BLOCK": 4096 // width}
    options = {"num_warps": 4}
    return Specimen(f"{FILE}:attention_finish_kernel", str(width), 64, 128, arguments=given, options=options)


SPECIMENS = [prepare(64, False), prepare(128, False), prepare(128, True), finish(64), finish(128)]
