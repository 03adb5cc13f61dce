"""Charts of the norms chapter: time against each peer, shape by shape, and the steps towards a fast backward pass."""

from scripts.drawing.chapters.softmax import shapes
from scripts.drawing.data import RATES, TIMES, Chart, Record, choose, numbers, rates
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, SERIES, Canvas, Variant, on_canvas
from scripts.pages.formats import us

STEPS = {
    "atomic": "Atomic additions",
    "locks": "Locks",
    "two_kernels": "Two kernels",
    "blockwise": "Blockwise",
    "eager": SERIES["eager"].label,
}
LIMIT = "device copy (the limit drawn)"
BAR = 26


def layer_norm_shapes(record: Record) -> Chart:
    return shapes(record, "layernorm", "layer norm")


def rms_norm_shapes(record: Record) -> Chart:
    return shapes(record, "rmsnorm", "RMS norm")


def norm_steps(record: Record) -> Chart:
    copy = record["ceilings"]["copy"]
    rows = choose(record, op="norm_step", timing="call")
    found = {
        shape: [row for name in STEPS for row in rows if (row["shape"], row["implementation"]) == (shape, name)]
        for shape in dict.fromkeys(row["shape"] for row in rows)
    }
    reach = max(max(row["ms"]) for row in rows)

    def paint(variant: Variant) -> Canvas:
        left, right = (150 if variant.wide else 118), variant.width - 66
        canvas = Canvas(variant, sum(40 + BAR * len(bars) + 12 for bars in found.values()) + 20)
        y = 0.0
        for shape, bars in found.items():
            canvas.text(0, y + 20, f"{shape.replace('x', ' rows of ')} elements", fontweight="bold")
            axes = canvas.axes(left, y + 34, right, y + 34 + BAR * len(bars))
            axes.set_xlim(0, reach)
            axes.set_ylim(len(bars) - 0.5, -0.5)
            axes.set_xticks([])
            axes.set_yticks([])
            axes.axvline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
            for place, row in enumerate(bars):
                fast, middle, slow = row["ms"]
                color = COLORS["peer-1" if row["implementation"] == "eager" else "ours"]
                axes.barh([place], [middle], height=0.56, color=color, zorder=1.8, clip_on=False)
                axes.plot([fast, slow], [place] * 2, color=COLORS["ink"], linewidth=1.2, clip_on=False)
                middle_y = on_canvas(canvas, axes, 0, place)[1]
                canvas.text(0, middle_y + 4.5, STEPS[row["implementation"]])
                canvas.text(variant.width, middle_y + 4.5, us(middle * 1e3), fontweight="bold", ha="right")
                mark(canvas, axes, middle, place, (STEPS[row["implementation"]], shape, *numbers(row)), (0, place))
            axes.axvline(least(bars[0], copy), color=COLORS["limit"], linewidth=1.4, clip_on=False)
            y += 40 + BAR * len(bars) + 12
        canvas.line([0, 18], [y + 3.5] * 2, color=COLORS["limit"], linewidth=1.4)
        canvas.text(24, y + 8, "the least bytes at the speed of a copy" if variant.wide else "the least, at a copy's speed")
        return canvas

    words = "; ".join(
        f"{shape}: " + ", ".join(f"{STEPS[row['implementation']]} {us(row['ms'][1] * 1e3)}" for row in bars)
        for shape, bars in found.items()
    )
    title = "Time of the backward pass of layer norm in bfloat16, step by step, beside PyTorch."
    alt = (
        "Bar chart in two parts, one for each shape, a bar for each step. Across: time from zero, called from Python. "
        f"{words}. A line marks the time in which a copy of the same run moves the least bytes that the pass can move."
    )
    table = [[STEPS[row["implementation"]], shape, *numbers(row)] for shape, bars in found.items() for row in bars]
    return Chart(title, alt, ["step", "shape", *TIMES, *RATES], [*table, [LIMIT, None, *numbers(copy)]], paint)


def least(row: Record, copy: Record) -> float:
    """Milliseconds for the bytes of a case at the rate of the copy."""
    return row["bytes"] / (rates(copy)[1] * 1e6)


CHARTS = {
    "layer_norm_shapes": (layer_norm_shapes, ("norms/benchmark",)),
    "rms_norm_shapes": (rms_norm_shapes, ("norms/benchmark_rms",)),
    "norm_steps": (norm_steps, ("norms/benchmark_steps",)),
}
