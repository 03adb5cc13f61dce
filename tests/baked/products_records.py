"""Synthetic records for the charts of *Matmul on Hopper* and *Fusing around a matmul*."""

from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
RATIOS = ("0", "1", "10", "100", "1000")
SQUARES = [("1024x1024x1024", "bf16"), ("3072x3072x3072", "bf16"), ("8192x28672x8192", "bf16"), ("512x512x512", "fp16")]
NARROW = [("16x8192x8192", "bf16"), ("128x8192x8192", "bf16"), ("512x512x65536", "bf16")]
SCALED = [("1024x1024x1024", "fp8"), ("16x8192x8192", "fp8")]
EPILOGUES = {
    "epilogue_gelu": ("fused", "separate", "eager", "cublas", "compile", "compile_max"),
    "epilogue_silu": ("fused", "separate", "eager", "compile"),
    "epilogue_bias": ("fused", "separate", "eager"),
    "epilogue_product": ("fused", "eager"),
}
FOLDS = {
    "ln_linear_fold": ("folded", "folded_prepared", "blockwise", "eager", "compile"),
    "ln_linear_product": ("blockwise", "eager"),
}
NORMS = ("8192x4096x4096", "512x1024x4096")


def row(op: str, shape: str, dtype: str, name: str, number: int, direction: str = "fwd") -> Record:
    m, n, k = map(int, shape.split("x"))
    ms = 2 * m * n * k / 601.3e9 * (1 + (number * 37 % 29) / 97) + 0.002
    where = {"op": op, "direction": direction, "shape": shape, "dtype": dtype, "implementation": name, "timing": "call"}
    return {**where, "ms": [round(ms * part, 6) for part in (0.97, 1, 1.04)], "bytes": 10**8, "flops": 2 * m * n * k}


def rows_of(op: str, cases: list[tuple[str, str]], names: tuple[str, ...]) -> list[Record]:
    listed = [(shape, dtype, name) for shape, dtype in cases for name in names]
    return [row(op, *each, number) for number, each in enumerate(listed)]


def records_of_products(synthetic: Callable[..., Record]) -> list[Record]:
    layouts = ("blockwise_nn", "blockwise_nt", "eager", "eager_nt")
    scaled = ("blockwise_tensor", "scaled_mm_tensor_fast", "blockwise_row", "scaled_mm_row_fast")
    made = {
        "hopper/benchmark": rows_of("mm", SQUARES, layouts),
        "hopper/benchmark_skinny": rows_of("mm", NARROW, layouts),
        "hopper/benchmark_fp8": rows_of("scaled_mm", SCALED, scaled),
        "fusing/epilogue": [
            line for op, names in EPILOGUES.items() for line in rows_of(op, [("8192x14336x4096", "bf16"), SQUARES[0]], names)
        ],
        "fusing/benchmark_layer_norm_linear": [
            row("ln_linear", shape, "bf16", name, 5 * number + place, direction)
            for number, shape in enumerate(NORMS)
            for direction in ("fwd", "bwd")
            for place, name in enumerate(("blockwise", "eager", "compile"))
        ],
    }
    found = [synthetic(name, measurements=measurements) for name, measurements in made.items()]
    folds = [line for op, names in FOLDS.items() for line in rows_of(op, [(shape, "bf16") for shape in NORMS], names)]
    return [*found, synthetic("fusing/folded", measurements=folds, figures={"errors": errors()})]


def errors() -> Record:
    ways = ("folded", "careless", "first", "eager", "rms_folded")
    return {
        kind: {
            ratio: {way: round(1.7e-3 * (place + 1) ** (1 + number) * (1 + add / 7), 9) for number, way in enumerate(ways)}
            for place, ratio in enumerate(RATIOS)
        }
        for add, kind in enumerate(("float32", "bfloat16", "rounded"))
    }
