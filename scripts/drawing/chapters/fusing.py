"""The charts of *Fusing around a matmul*: what comes on top of a product, and the digits that a fold keeps."""

from typing import Any

from scripts.drawing.chapters.products import Lane, Mark, Part, of_bound, ratio_chart, spelled
from scripts.drawing.data import Chart, Record, choose
from scripts.drawing.names import Names
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, SERIES, Canvas, Series, Variant

WAYS = {
    "fused": Series("fused", "ours", "o", width=0),
    "folded": Series("folded", "ours", "D", width=0, hollow=True),
    "folded_prepared": Series("folded, prepared anew", "ours", "v", width=0, hollow=True),
    "blockwise": Series("normalized first", "ours", "o", width=0),
    "separate": Series("a pass of its own", "peer-3", "D", width=0),
    "eager": Series("PyTorch eager", "peer-1", "s", width=0),
    "cublas": Series("cuBLAS, fused", "peer-1", "v", width=0, hollow=True),
    "compile": Series("torch.compile", "peer-2", "^", width=0),
    "compile_max": Series("max-autotune", "peer-4", "v", width=0),
}
OPERATIONS = {
    "epilogue_gelu": "Bias and GELU",
    "epilogue_silu": "Bias and SiLU",
    "epilogue_bias": "Bias",
    "epilogue_product": "Nothing but the product",
}
ALT = "Dot chart. Across: time over that of the bare product by cuBLAS, which is the line at one; left is faster. *: replayed."
DIRECTIONS = {"fwd": "Forward", "bwd": "Backward"}


def lane(shape: str, rows: dict[str, Record], bound: Record) -> Lane:
    marks = [Mark(series, name, rows[name]["ms"], of_bound(rows[name], bound)) for name, series in WAYS.items() if name in rows]
    was_replayed = any(row["timing"] == "graph" for row in rows.values())
    return Lane(spelled(shape) + (" *" if was_replayed else ""), marks)


def cases(record: Record, op: str, direction: str = "fwd") -> dict[str, dict[str, Record]]:
    """Each shape's rows: replayed from CUDA graphs where the whole shape was, since a short call shows the host's time."""
    called: dict[str, dict[str, Record]] = {}
    replayed: dict[str, dict[str, Record]] = {}
    for timing, found in (("call", called), ("graph", replayed)):
        for row in choose(record, op=op, direction=direction, timing=timing):
            found.setdefault(row["shape"], {})[row["implementation"]] = row
    return {shape: replayed[shape] if replayed.get(shape, {}).keys() == rows.keys() else rows for shape, rows in called.items()}


def epilogue_shapes(record: Record) -> Chart:
    bounds = {shape: rows["eager"] for shape, rows in cases(record, "epilogue_product").items()}
    parts = [
        Part(label, [lane(shape, rows, bounds[shape]) for shape, rows in cases(record, op).items()])
        for op, label in OPERATIONS.items()
    ]
    title = "What a bias and an activation come to on top of a product, fused and in passes of their own. *: replayed."
    return ratio_chart(parts, title, ALT, "the bare product, cuBLAS", "← faster")


def folded_shapes(record: Record) -> Chart:
    bounds = {shape: rows["eager"] for shape, rows in cases(record, "ln_linear_product").items()}
    parts = [
        Part(label, [lane(shape, rows, bounds[shape]) for shape, rows in cases(record, op).items()])
        for op, label in (("ln_linear_fold", "LayerNorm and linear"), ("ln_linear_product", "The linear layer alone"))
    ]
    title = "LayerNorm and a linear layer: folded, normalized first, and PyTorch's, beside the layer alone. *: replayed."
    return ratio_chart(parts, title, ALT, "the linear layer, cuBLAS", "← faster")


def norm_linear_shapes(record: Record) -> Chart:
    parts = []
    for direction, label in DIRECTIONS.items():
        found = cases(record, "ln_linear", direction)
        parts.append(Part(label, [lane(shape, rows, rows["eager"]) for shape, rows in found.items()]))
    title = "LayerNorm and a linear layer, forward and backward, as a multiple of PyTorch eager's time. *: replayed."
    alt = "Dot chart. Across: time over PyTorch eager's, which is the line at one; left is faster. *: replayed."
    return ratio_chart(parts, title, alt, "PyTorch eager", "← faster")


RATIOS = ("0", "1", "10", "100", "1000")
LINES = {
    ("rounded", "folded"): Series("float32 rows, rounded: folded", "ours", "o", dashes=(2, 2.5), hollow=True),
    ("rounded", "first"): Series("float32 rows: normalized first", "peer-1", "s", dashes=(6, 2.5)),
    ("bfloat16", "careless"): Series("bfloat16 rows: folded, careless u", "peer-2", "^", dashes=(1.2, 1.8)),
    ("bfloat16", "folded"): Series("bfloat16 rows: folded", "ours", "o", width=2.4),
    ("bfloat16", "first"): Series("bfloat16 rows: normalized first", "peer-3", "D", dashes=(9, 2, 1.5, 2)),
    ("bfloat16", "rms_folded"): Series("bfloat16 rows: RMSNorm folded", SERIES["compile_max"].color, "v", dashes=(3.5, 1.5)),
}


def fold_digits(record: Record) -> Chart:
    errors = record["figures"]["errors"]
    curves = {key: [errors[key[0]][ratio][key[1]] for ratio in RATIOS] for key in LINES}
    items = [(series, series.label) for series in LINES.values()]
    places = list(range(len(RATIOS)))

    def paint(variant: Variant) -> Canvas:
        left, top, bottom = (58, 26, 300) if variant.wide else (50, 26, 270)
        names = Names(variant, items, least=20)
        canvas = Canvas(variant, bottom + 54 + names.legend)
        axes = canvas.axes(left, top, variant.width - names.margin, bottom)
        axes.set_yscale("log")
        axes.minorticks_off()
        values = [value for curve in curves.values() for value in curve]
        axes.set_ylim(min(values) / 2, 2 * max(values))
        powers = [power for power in range(-9, 4) if min(values) / 2 <= 10.0**power <= 2 * max(values)]
        raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
        axes.set_yticks([10.0**power for power in powers], [f"10{str(power).translate(raised)}" for power in powers])
        axes.set_xticks(places, RATIOS)
        axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
        for key, curve in curves.items():
            axes.plot(places, curve, clip_on=False, **LINES[key].line())
            for place, value in zip(places, curve, strict=True):
                mark(canvas, axes, place, value, (LINES[key].label, int(RATIOS[place]), value))
        canvas.text(0, 14, "Relative error", color="muted")
        canvas.text(left, bottom + 36, "Mean of a row over its standard deviation", color="muted")
        names.write(canvas, axes, [(places[-1], curve[-1]) for curve in curves.values()], bottom + 64)
        return canvas

    said = " ".join(f"{LINES[key].label}: {curve[0]:.1e} at 0 and {curve[-1]:.1e} at 1000." for key, curve in curves.items())
    alt = f"Line chart, the axis up logarithmic. Across: mean over standard deviation. Up: error against float64. {said}"
    table: list[list[Any]] = [
        [LINES[key].label, int(ratio), value] for key, curve in curves.items() for ratio, value in zip(RATIOS, curve, strict=True)
    ]
    title = "Error of LayerNorm and a linear layer against float64, folded and normalized first, as the mean grows."
    return Chart(title, alt, ["way", "mean over standard deviation", "relative error"], table, paint)


CHARTS = {
    "epilogue_shapes": (epilogue_shapes, ("fusing/epilogue",)),
    "folded_shapes": (folded_shapes, ("fusing/folded",)),
    "norm_linear_shapes": (norm_linear_shapes, ("fusing/benchmark_layer_norm_linear",)),
    "fold_digits": (fold_digits, ("fusing/folded",)),
}
