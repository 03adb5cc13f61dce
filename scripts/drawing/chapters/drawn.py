"""Charts of the drawn shapes: of each case the best peer's time over ours, by the bytes that the case moves."""

import math
from collections.abc import Callable

from scripts.drawing.data import Chart, Record, capital
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Variant, legend_rows, on_canvas
from scripts.pages.drawn import TOLD, Case, cases, directions, summary

TITLES = {
    "add": "addition",
    "gelu": "GELU",
    "swiglu": "SwiGLU",
    "geglu": "GEGLU",
    "softmax": "softmax",
    "layer_norm": "layer norm",
    "rms_norm": "RMS norm",
    "cross_entropy": "cross-entropy",
    "rope": "rotary embedding",
    "sum": "sums",
    "max": "maxima",
    "matmul": "matrix products",
    "attention": "attention",
}
HEIGHT = 220
LEFT = 66
GAP = 40
FINE = (0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2)


def drawn_chart(title: str) -> Callable[[Record], Chart]:
    def chart(record: Record) -> Chart:
        found = directions(cases(record))
        every = [case for some in found.values() for case in some]
        low = min(0.7, *(case.ratio for case in every)) / 1.08
        high = max(1.5, *(case.ratio for case in every)) * 1.08
        least, most = min(case.bytes for case in every) / 1.5, max(case.bytes for case in every) * 1.5
        peers = [name for name in SERIES if any(case.peer == name for case in every)]

        def paint(variant: Variant) -> Canvas:
            items = [(SERIES[name]._replace(width=0), f"best peer: {SERIES[name].label}") for name in peers]
            legend = LEGEND_ROW * len(legend_rows(items, variant, 0))
            columns = min(2, len(found)) if variant.wide else 1
            width = (variant.width - LEFT - GAP * (columns - 1) - 8) / columns
            down = math.ceil(len(found) / columns)
            canvas = Canvas(variant, legend + down * (HEIGHT + 94) - 4)
            canvas.legend(0, 14, items)
            for place, (direction, some) in enumerate(found.items()):
                x = LEFT + (place % columns) * (width + GAP)
                top = legend + 48 + (place // columns) * (HEIGHT + 94)
                panel(canvas, (x, top, x + width, top + HEIGHT), (low, high), (least, most), some, place % columns == 0)
                of = summary(some)
                words = f"{capital(TOLD[direction])}: mean {of['mean']:.2f}, tenth percentile {of['tenth']:.2f}"
                canvas.text(x if variant.wide else 0, top - 28, words, fontweight="bold")
                if place % columns == 0:
                    canvas.text(0, top - 7, "Bytes", color="muted")
                canvas.text(x, top + HEIGHT + 37, "Best peer's time ÷ Blockwise's time", color="muted")
            return canvas

        told = []
        for direction, some in found.items():
            of = summary(some)
            words = f"{capital(TOLD[direction])}: geometric mean {of['mean']:.2f}, tenth percentile {of['tenth']:.2f}"
            told.append(f"{words}, worst {of['worst']['ratio']:.2f} at {of['worst']['shape']} in {of['worst']['dtype']}.")
        alt = (
            "Dot plot, a dot for each drawn case. Across, on a logarithmic scale: the time of its best peer divided by "
            f"Blockwise's. Upward: the bytes that it moves. Right of the line at one Blockwise is faster. {' '.join(told)}"
        )
        table = [
            [TOLD[case.direction], case.shape, case.dtype, case.bytes, case.ours, SERIES[case.peer].label, case.theirs]
            + [round(case.ratio, 4), round(case.of_copy, 4)]
            for case in every
        ]
        head = ["direction", "shape", "dtype", "bytes", "ours, time p50 (ms)", "best peer", "its time p50 (ms)", "ratio"]
        seed, count = record["drawn"]["seed"], max(len(some) for some in found.values())
        shapes = f"{count} shapes drawn by the seed {seed}"
        says = f"{capital(title)} at {shapes}, beside the best peer of each."
        return Chart(says, alt, [*head, "of the copy's rate"], table, paint)

    return chart


def panel(
    canvas: Canvas, box: tuple[float, float, float, float], reach: tuple[float, float], sizes: tuple[float, float],
    found: list[Case], named: bool,
) -> None:  # fmt: skip
    axes = canvas.ratio_axes(box, *reach)
    if reach[1] < 4 * reach[0]:
        ticks = [tick for tick in FINE if reach[0] <= tick <= reach[1]]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yscale("log", base=2)
    axes.minorticks_off()
    axes.set_ylim(*sizes)
    # A size at the very top would run into the axis's title above it.
    powers = [2**power for power in range(10, 40, 3) if sizes[0] <= 2**power <= sizes[1] / 1.5]
    axes.set_yticks(powers, [size(power) for power in powers] if named else [])
    axes.axvspan(reach[0], 1, color=COLORS["panel"], linewidth=0, clip_on=False)
    for power in powers:
        axes.axhline(power, color=COLORS["rule"], linewidth=0.7, clip_on=False)
    axes.axvline(1, color=COLORS["ours"], linewidth=1.6, clip_on=False)
    for name in dict.fromkeys(case.peer for case in found):
        some = [case for case in found if case.peer == name]
        look = {**SERIES[name].line(), "linestyle": "", "markeredgecolor": COLORS["paper"], "markeredgewidth": 0.7}
        axes.plot([case.ratio for case in some], [case.bytes for case in some], clip_on=False, **look)
        for case in some:
            mark(canvas, axes, case.ratio, case.bytes, (TOLD[case.direction], case.shape, case.dtype, case.bytes))
    x = on_canvas(canvas, axes, 1, sizes[0])[0]
    canvas.text(x - 5, box[1] - 7, "← slower", color="muted", ha="right")
    canvas.text(x + 5, box[1] - 7, "faster →", color="muted")


def size(count: int) -> str:
    """A power of two of bytes in a word."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 2**power:
            return f"{count >> power} {unit}"
    return f"{count} B"


CHARTS = {f"drawn_{name}": (drawn_chart(title), (f"drawn/{name}",)) for name, title in TITLES.items()}
