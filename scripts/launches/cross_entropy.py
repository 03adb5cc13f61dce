"""Cross-entropy: rows held whole, walked along for their loss, and walked along and back for their gradient."""

from typing import Any

from scripts.launches import SHARED_BYTES, Specimen, called

POINTERS = {"target_ptr": "*i64", "counts_ptr": "*i32", "parts_ptr": "*fp32", "arrived_ptr": "*i32"}
SIZES = {"n_rows": 4096, "ignore_index": -100}
FORWARD = {"dloss_ptr": None, "dloss_stride": 0, "REDUCTION": "mean", "READY": False}
# What the backward pass launches: the gradient alone, unless it is there already.
BACKWARD = {**FORWARD, "counts_ptr": "*i32", "parts_ptr": None, "arrived_ptr": None, "loss_ptr": None, "READY": True}
VECTORS = {"fp32": 4, "fp16": 8, "bf16": 8}


def rows(dtype: str, n_columns: int, gradient: bool) -> dict[str, Any]:
    """The arguments that a row's length and dtype decide."""
    pointer = f"*{dtype}"
    counted = {} if gradient else {"counts_ptr": None}
    written = counted | {"dlogits_ptr": pointer if gradient else None, "dlogits_row_stride": n_columns if gradient else 0}
    return {
        **POINTERS,
        **SIZES,
        "logits_ptr": pointer,
        "loss_ptr": pointer,
        "logits_row_stride": n_columns,
        "n_columns": n_columns,
    } | written


def short(label: str, registers: int, dtype: str, n_columns: int, gradient: bool, spills: int = 0) -> Specimen:
    """As `cross_entropy_plan` launches it."""
    block = max(1, 1 << (n_columns - 1).bit_length())
    meta = {"ROWS": max(1, 1024 // block), "BLOCK": block, "EVEN": n_columns % 8 == 0}
    options = {"num_warps": 2 if block <= 1024 else 4 if block <= 4096 else 8}
    arguments = {**rows(dtype, n_columns, gradient), **FORWARD, **meta}
    name = "kernels/cross_entropy/short.py:cross_entropy_short_kernel"
    return Specimen(name, f"{label}{n_columns}-{dtype}", registers, 4096, spills, arguments=arguments, options=options)


def long(registers: int, dtype: str, n_columns: int) -> Specimen:
    lanes = 256 if n_columns <= 65536 else 512
    taken = rows(dtype, n_columns, False)
    arguments = {name: value for name, value in taken.items() if not name.startswith(("dlogits", "counts"))}
    arguments |= {"REDUCTION": "mean", "LANES": lanes, "VECTOR": VECTORS[dtype]}
    name, options = "kernels/cross_entropy/long.py:cross_entropy_long_kernel", {"num_warps": lanes // 64}
    return Specimen(name, f"{n_columns}-{dtype}", registers, SHARED_BYTES, arguments=arguments, options=options)


def gradient(registers: int, dtype: str, n_columns: int, backward: bool = False, spills: int = 0) -> Specimen:
    lanes, num_warps = (1024, 8) if n_columns * 16 <= 2**17 * VECTORS[dtype] else (4096, 32)
    arguments = {**rows(dtype, n_columns, True), **FORWARD, "LANES": lanes, "VECTOR": VECTORS[dtype]}
    if backward:
        arguments |= {**BACKWARD, "dloss_ptr": f"*{dtype}"}
    label = f"{'backward-' if backward else ''}{n_columns}-{dtype}"
    name = "kernels/cross_entropy/gradient.py:cross_entropy_gradient_kernel"
    return Specimen(name, label, registers, SHARED_BYTES, spills, arguments=arguments, options={"num_warps": num_warps})


SHORT = {1: 255, 10: 255, 100: 255, 1001: 168, 4096: 128, 8192: 128}
SPECIMENS = [
    called("kernels/cross_entropy/total.py:cross_entropy_count_kernel", target_ptr="*i64", counts_ptr="*i32", **SIZES),
    # With one class, a program has 1024 rows, and a register or two too few for all that it keeps of each.
    *(
        short("", bound, dtype, length, True, spills=16 if length == 1 else 0)
        for length, bound in SHORT.items()
        for dtype in ("fp32", "bf16")
    ),
    short("loss-", SHORT[10], "bf16", 10, False, spills=24),
    short("loss-", SHORT[4096], "bf16", 4096, False),
    *(long(96, dtype, length) for dtype, length in (("fp32", 50_257), ("bf16", 50_257), ("bf16", 262_144))),
    # sm_100 spills two registers.
    *(
        gradient(128, dtype, length, spills=24)
        for dtype, length in (("fp32", 50_257), ("bf16", 50_257), ("fp16", 32_000), ("bf16", 32_000))
    ),
    # A tile of half a long row takes all the registers that 1024 threads can have, and a few more.
    *(gradient(64, "bf16", 128_256, backward=backward, spills=56) for backward in (False, True)),
]
SPECIMENS += [
    called(
        "snippets/cross_entropy/launch.py:loss_kernel",
        x_ptr="*fp32",
        target_ptr="*i64",
        loss_ptr="*fp32",
        n_classes=1000,
        BLOCK=1024,
    ),
    called(
        "snippets/cross_entropy/gradient.py:both_kernel",
        **{name: "*fp32" for name in ("x_ptr", "loss_ptr", "dx_ptr")},
        target_ptr="*i64",
        n_rows=6,
        n_classes=1000,
        BLOCK=1024,
    ),
    called(
        "snippets/cross_entropy/look.py:scale_unless_one_kernel",
        **{name: "*fp32" for name in ("dx_ptr", "dloss_ptr")},
        n_elements=6000,
        BLOCK=1024,
    ),
    called(
        "snippets/cross_entropy/walk_back.py:walk_back_kernel",
        **{name: "*fp32" for name in ("x_ptr", "loss_ptr", "dx_ptr")},
        target_ptr="*i64",
        n_rows=6,
        n_classes=5000,
        BLOCK=1024,
    ),
    called(
        "snippets/cross_entropy/label_smoothing.py:smoothed_loss_kernel",
        x_ptr="*fp32",
        target_ptr="*i64",
        loss_ptr="*fp32",
        n_classes=1000,
        smoothing=0.1,
        BLOCK=1024,
    ),
]
