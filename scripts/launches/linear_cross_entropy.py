"""Cross-entropy of a linear layer: rows that become their gradient where they lie, and the scale of a gradient."""

from typing import Any

from scripts.launches import Specimen

ROWS = "kernels/linear_cross_entropy/rows.py:linear_cross_entropy_kernel"
SCALE = "kernels/linear_cross_entropy/rows.py:linear_cross_entropy_scale_kernel"
OPTIONS = {"ignore_index": -100, "smoothing": 0.0}


def rows(label: str, registers: int, dtype: str, n_classes: int, spills: int = 0, **others) -> Specimen:
    """As `linear_cross_entropy_launch` launches it: rows begin at multiples of sixteen numbers."""
    block = min(4096, max(16, 1 << (n_classes - 1).bit_length()))
    arguments: dict[str, Any] = {"logits_ptr": f"*{dtype}", "target_ptr": "*i64", "dloss_ptr": None, "count_ptr": "*i64"}
    arguments |= {"loss_ptr": "*fp32", "row_stride": -(-n_classes // 16) * 16, "dloss_stride": 0, "n_classes": n_classes}
    arguments |= {"SMOOTHED": False, "GRADIENT": True, "BLOCK": block} | OPTIONS | others
    name = f"{label}{n_classes}-{dtype}"
    return Specimen(ROWS, name, registers, 256, spills, arguments=arguments, options={"num_warps": 8 if block == 4096 else 4})


def scale(dtype: str, counted: bool) -> Specimen:
    arguments: dict[str, Any] = {"gradient_ptr": f"*{dtype}", "dloss_ptr": "*fp32", "count_ptr": "*i64" if counted else None}
    arguments |= {"n_elements": 2**20, "BLOCK": 4096}
    return Specimen(SCALE, dtype, 48, 0, arguments=arguments, options={"num_warps": 8})


GIVEN: dict[str, Any] = {"dloss_ptr": "*fp32", "dloss_stride": 1, "loss_ptr": None}
SPECIMENS = [
    rows("", 88, "bf16", 128_256),
    rows("", 120, "fp32", 50_257, spills=8),
    rows("", 64, "fp16", 1000),
    rows("alone-", 88, "bf16", 128_256, GRADIENT=False),
    rows("smoothed-", 116, "bf16", 128_256, SMOOTHED=True, smoothing=0.1),
    rows("backward-", 56, "bf16", 128_256, **GIVEN),
    scale("bf16", False),
    scale("fp16", True),
]
