"""The charts of *Precision*: the error of each way to multiply over K, that of its sums alone, and its rate."""

from typing import Any

from scripts.drawing.data import TIMES, Chart, Record, choose
from scripts.drawing.names import Names
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, Canvas, Series, Variant, on_canvas, text_width

LENGTHS = (64, 256, 1024, 4096, 16384, 65536)
# What is drawn, in order; every way has one look in both charts of errors.
LOOKS = {
    "fp8": Series("e4m3, a scale a row", "peer-4", "v", dashes=(3.5, 1.5)),
    "fp8_promoted": Series("e4m3, sums promoted", "peer-4", "v", dashes=(2, 2), hollow=True),
    "fp16_sums": Series("float16, sums in float16", "peer-3", "D", dashes=(2, 2), hollow=True),
    "bf16": Series("bfloat16", "peer-2", "^", dashes=(1.2, 1.8)),
    "fp16": Series("float16", "peer-3", "D", dashes=(9, 2, 1.5, 2)),
    "tf32": Series("tf32", "peer-1", "s", dashes=(6, 2.5)),
    "tf32x3": Series("tf32x3", "ours", "o", dashes=(2, 2.5), hollow=True),
    "ieee": Series("ieee", "ours", "o", width=2.4),
}
WHOLE = ("fp8", "bf16", "tf32", "fp16", "tf32x3", "ieee")
SUMS = ("fp16_sums", "fp8", "fp8_promoted", "bf16", "ieee")
RATED = {
    "fp32": {"ieee": "ieee", "eager_ieee": "cuBLAS, ieee", "bf16x6": "bf16x6", "tf32x3": "tf32x3", "bf16x3": "bf16x3",
             "tf32": "tf32", "eager_tf32": "cuBLAS, tf32"},
    "bf16": {"bf16": "bfloat16", "eager": "cuBLAS, bfloat16"},
    "fp16": {"fp16": "float16", "eager": "cuBLAS, float16", "fp16_sums": "sums in float16", "eager_fp16_sums": "cuBLAS, those"},
    "e4m3": {"fp8": "e4m3", "fp8_promoted": "e4m3, promoted", "scaled_mm_fast": "cuBLAS, fast", "scaled_mm_slow": "cuBLAS, slow"},
}  # fmt: skip
LANE, HEAD = 23, 30


def curves_of(record: Record, kind: str, which: str, ways: tuple[str, ...]) -> dict[str, list[float]]:
    """The errors over K of each way that did not fail."""
    rows = [record["figures"][kind][str(length)] for length in LENGTHS]
    return {way: [row[way][which] for row in rows] for way in ways if all(row[way] for row in rows)}


def errors(record: Record, kind: str, which: str, ways: tuple[str, ...], title: str, alt: str) -> Chart:
    curves = curves_of(record, kind, which, ways)

    def paint(variant: Variant) -> Canvas:
        left, top, bottom = (58, 26, 330) if variant.wide else (50, 26, 290)
        items = [(LOOKS[way], LOOKS[way].label) for way in curves]
        names = Names(variant, items, least=14)
        canvas = Canvas(variant, bottom + 52 + names.legend)
        axes = canvas.axes(left, top, variant.width - names.margin, bottom)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.minorticks_off()
        values = [value for curve in curves.values() for value in curve if value > 0]
        axes.set_ylim(min(values) / 2, 2 * max(values))
        powers = [power for power in range(-9, 1) if min(values) / 2 <= 10.0**power <= 2 * max(values)]
        axes.set_yticks([10.0**power for power in powers], [f"10{str(power).translate(RAISED)}" for power in powers])
        axes.set_xticks(LENGTHS[:: 1 if variant.wide else 2], [f"{length:,}" for length in LENGTHS[:: 1 if variant.wide else 2]])
        axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
        for way, curve in curves.items():
            axes.plot(LENGTHS, curve, clip_on=False, **LOOKS[way].line())
            for length, value in zip(LENGTHS, curve, strict=True):
                mark(canvas, axes, length, value, (LOOKS[way].label, length, value))
        canvas.text(0, 14, "Relative error", color="muted")
        canvas.text(left, bottom + 36, "K, terms in a sum", color="muted")
        names.write(canvas, axes, [(LENGTHS[-1], curve[-1]) for curve in curves.values()], bottom + 62)
        return canvas

    said = [
        f"{LOOKS[way].label} {curve[0]:.1e} at {LENGTHS[0]} terms and {curve[-1]:.1e} at {LENGTHS[-1]:,}."
        for way, curve in curves.items()
    ]
    table: list[list[Any]] = [
        [LOOKS[way].label, length, value] for way, curve in curves.items() for length, value in zip(LENGTHS, curve, strict=True)
    ]
    return Chart(title, f"{alt} {' '.join(said)}", ["way", "K", "relative error"], table, paint)


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def precision_errors(record: Record) -> Chart:
    title = "Error of a product of normal random numbers against float64, for each way to multiply, over the number of terms."
    alt = "Line chart, both axes logarithmic. Across: K from 64 to 65,536. Up: error of the whole product, relative to its norm."
    return errors(record, "normal", "whole", WHOLE, title, alt)


def precision_sums(record: Record) -> Chart:
    title = "Error of the sums alone, for random numbers from zero to one, against the float64 product of the numbers as read."
    alt = "Line chart, both axes logarithmic. Across: K from 64 to 65,536. Up: error of the sums, relative to the product's norm."
    return errors(record, "positive", "sums", SUMS, title, alt)


def precision_speed(record: Record) -> Chart:
    called = choose(record, op="precision", timing="call") + choose(record, op="precision_scaled", timing="call")
    rows = {(row["dtype"], row["implementation"]): row for row in called}
    bars = [
        (label, rows[dtype, name]) for dtype, names in RATED.items() for name, label in names.items() if (dtype, name) in rows
    ]
    rated = [(label, row, [round(row["flops"] / ms / 1e9, 1) for ms in row["ms"]]) for label, row in bars]
    top = max(rates[0] for _, _, rates in rated)

    def paint(variant: Variant) -> Canvas:
        canvas = Canvas(variant, HEAD + LANE * len(rated) + 12)
        canvas.text(0, 14, "TFLOP/s", color="muted")
        left = 14 + max(text_width(label, variant.text) for label, _, _ in rated)
        axes = canvas.axes(left, HEAD, variant.width - 52, HEAD + LANE * len(rated))
        axes.set_xlim(0, top)
        axes.set_ylim(len(rated) - 0.5, -0.5)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.axvline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
        for place, (label, row, (fast, middle, slow)) in enumerate(rated):
            color = COLORS["peer-1" if row["implementation"].startswith(("eager", "scaled_mm")) else "ours"]
            axes.barh([place], [middle], height=0.56, color=color, zorder=1.8, clip_on=False)
            axes.plot([slow, fast], [place] * 2, color=COLORS["ink"], linewidth=1.2, clip_on=False)
            y = on_canvas(canvas, axes, 0, place)[1]
            canvas.text(0, y + 4.5, label)
            canvas.text(variant.width, y + 4.5, f"{middle:,.0f}", fontweight="bold", ha="right")
            mark(canvas, axes, middle, place, (row["dtype"], label, *row["ms"]), (0, place))
        return canvas

    title = "Rate of a product of 8192 by 8192 by 8192 in each precision, Triton's and cuBLAS's."
    said = ", ".join(f"{label} {rates[1]:,.0f}" for label, _, rates in rated)
    alt = f"Bar chart. Across: TFLOP/s from zero, called from Python. {said}."
    table = [[row["dtype"], label, *row["ms"], *rates] for label, row, rates in rated]
    columns = ["type", "way", *TIMES, "rate at p20 (TFLOP/s)", "rate at p50 (TFLOP/s)", "rate at p80 (TFLOP/s)"]
    return Chart(title, alt, columns, table, paint)


CHARTS = {name.__name__: (name, ("precision/ways",)) for name in (precision_errors, precision_sums, precision_speed)}
