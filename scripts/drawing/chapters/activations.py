"""Charts of dropout and of the activations: bandwidth of each implementation, case by case, under that of a plain copy."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from scripts.drawing.data import RATES, TIMES, Chart, Record, choose, listed, numbers, rates, ticks
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Variant, legend_rows, on_canvas

LIMIT = "device copy (the limit drawn)"
DIRECTIONS = {"fwd": "forward", "bwd": "backward"}
# A panel's heading, and its cases: operation, direction, shape, dtype, and lines of words.
Case = tuple[str, str, str, str, tuple[str, ...]]


def lines(shape: str, *words: str) -> tuple[str, ...]:
    """A shape on two lines, so that four stand beside one another, and words below."""
    rows, columns = shape.split("x")
    return rows, f"× {columns}", *words


DROPOUT: list[tuple[str, list[Case]]] = [
    (
        "Forward, float32",
        [
            ("dropout", "fwd", str(2**power), "fp32", (words, "numbers"))
            for power, words in ((20, "2²⁰"), (24, "2²⁴"), (28, "2²⁸"))
        ],
    ),
    (
        "Forward, bfloat16",
        [
            ("dropout", "fwd", str(2**28), "bf16", ("2²⁸", "numbers")),
            ("dropout", "fwd", str(2**28 - 3), "bf16", ("2²⁸ − 3", "numbers")),
            ("dropout_add", "fwd", "8192x4096", "bf16", lines("8192x4096", "residual")),
        ],
    ),
    ("Backward", [("dropout", "bwd", str(2**28), dtype, ("2²⁸", dtype)) for dtype in ("fp32", "bf16")]),
]
LARGE = ("8192x4096", "8192x14336")
GATED: list[tuple[str, list[Case]]] = [
    (
        "SwiGLU, forward",
        [("swiglu", "fwd", shape, "bf16", lines(shape)) for shape in ("512x4096", *LARGE, "32768x14336")],
    ),
    (
        "SwiGLU",
        [
            ("swiglu", "fwd", "8191x4095", "bf16", lines("8191x4095", "forward")),
            ("swiglu_halves", "fwd", "8192x14336", "bf16", lines("8192x14336", "halves")),
            *(("swiglu", "bwd", shape, "bf16", lines(shape, "backward")) for shape in LARGE),
        ],
    ),
    (
        "GEGLU",
        [("geglu", direction, shape, "bf16", lines(shape, DIRECTIONS[direction])) for direction in DIRECTIONS for shape in LARGE],
    ),
]
GELU: list[tuple[str, list[Case]]] = [
    (
        "GELU by tanh, forward",
        [("gelu", "fwd", shape, "bf16", lines(shape)) for shape in ("512x4096", *LARGE, "32768x14336")],
    ),
    (
        "GELU by the error function",
        [
            *(("gelu_erf", "fwd", shape, "bf16", lines(shape, "forward")) for shape in LARGE),
            ("gelu_erf", "bwd", "8192x4096", "bf16", lines("8192x4096", "backward")),
        ],
    ),
    (
        "GELU by tanh",
        [
            ("gelu", "fwd", "8191x4095", "bf16", lines("8191x4095", "forward")),
            ("gelu", "bwd", "8192x4096", "bf16", lines("8192x4096", "backward")),
            ("bias_gelu", "fwd", "8192x4096", "bf16", lines("8192x4096", "bias")),
            ("bias_gelu", "bwd", "8192x4096", "bf16", lines("8192x4096", "bias, bwd")),
        ],
    ),
]


class Panel(NamedTuple):
    """Cases beside one another, each with its measurements, and the copy of the same run."""

    heading: str
    cases: list[tuple[Case, list[Record]]]
    copy: Record

    @property
    def roof(self) -> float:
        return rates(self.copy)[1]


def panels_of(record: Record, wanted: Sequence[tuple[str, list[Case]]]) -> list[Panel]:
    panels = []
    for heading, cases in wanted:
        found = []
        for case in cases:
            op, direction, shape, dtype, _ = case
            rows = choose(record, op=op, direction=direction, shape=shape, dtype=dtype, timing="call")
            if not rows:
                raise KeyError(f"{op} {direction} {shape} {dtype}")
            found.append((case, [row for name in SERIES for row in rows if row["implementation"] == name]))
        panels.append(Panel(heading, found, record["ceilings"]["copy"]))
    return panels


def bandwidths(panels: Sequence[Panel], subject: str) -> Chart:
    measured = [row for panel in panels for _, rows in panel.cases for row in rows]
    shown = [name for name in SERIES if any(row["implementation"] == name for row in measured)]
    tallest = max(max(rates(row)[2] for row in measured), *(panel.roof for panel in panels))

    def paint(variant: Variant) -> Canvas:
        items = [(SERIES[name]._replace(dashes=(), width=0), SERIES[name].label) for name in shown]
        left, height, gap, across = (50, 200, 108, 2) if variant.wide else (46, 190, 108, 1)
        width = (variant.width - left - 8 - 30 * (across - 1)) / across
        down = math.ceil(len(panels) / across)
        deep = down * height + (down - 1) * gap
        top = 36 + LEGEND_ROW * len(legend_rows(items, variant, 0))
        canvas = Canvas(variant, top + deep + 58)
        canvas.legend(0, 14, items)
        for place, panel in enumerate(panels):
            x, y = left + place % across * (width + 30), top + place // across * (height + gap)
            axes = draw_panel(canvas, panel, (x, y, x + width, y + height), tallest * height / (height - 28))
            canvas.text(x, y - 12, panel.heading, fontweight="bold")
            if place % across:
                axes.set_yticklabels([])
            else:
                canvas.text(0, y - 12, "GB/s", color="muted")
        return canvas

    title = f"Memory bandwidth of {subject}: {listed([SERIES[name].label for name in shown])}."
    alt = (
        f"Dot chart in {len(panels)} panels: {listed([panel.heading for panel in panels])}. "
        "Up: memory bandwidth from zero, in GB/s, called from Python; the bytes are the fewest that the operation can move. "
        f"{' '.join(sentence(case, rows) for panel in panels for case, rows in panel.cases)} "
        f"A line in each panel marks the device copy of the same run, {panels[0].roof:,.0f} GB/s."
    )
    table = [
        [*words_of(case), SERIES[row["implementation"]].label, *numbers(row)]
        for panel in panels
        for case, rows in panel.cases
        for row in rows
    ]
    columns = ["operation", "direction", "shape", "type", "implementation", *TIMES, *RATES]
    return Chart(title, alt, columns, [*table, [None, None, None, None, LIMIT, *numbers(panels[0].copy)]], paint)


def words_of(case: Case) -> list[str]:
    op, direction, shape, dtype, _ = case
    return [op, DIRECTIONS[direction], shape, dtype]


def sentence(case: Case, rows: Sequence[Record]) -> str:
    words = ", ".join(f"{SERIES[row['implementation']].label} {rates(row)[1]:,.0f} GB/s" for row in rows)
    return f"{' '.join(words_of(case))}: {words}."


def draw_panel(canvas: Canvas, panel: Panel, box: tuple[float, float, float, float], top: float) -> Axes:
    """A place across for each case, and there a dot at the rate of each implementation; ours stands on a stem."""
    axes = canvas.axes(*box)
    axes.set_xlim(-0.5, len(panel.cases) - 0.5)
    axes.set_ylim(0, top)
    axes.set_yticks(ticks(top, 1000), [f"{tick:,}" for tick in ticks(top, 1000)])
    axes.set_xticks([])
    axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
    axes.axhline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    axes.axhline(panel.roof, color=COLORS["limit"], linewidth=1.2, clip_on=False)
    for place, (case, rows) in enumerate(panel.cases):
        for turn, row in enumerate(rows):
            series, x = SERIES[row["implementation"]], place + 0.8 / len(rows) * (turn - (len(rows) - 1) / 2)
            slow, middle, fast = (round(rate, 1) for rate in rates(row))
            style: dict[str, Any] = {"color": COLORS[series.color], "clip_on": False}
            if row["implementation"] == "blockwise":
                axes.vlines([x], [0], [middle], linewidth=series.width, **style)
            axes.plot([x, x, math.nan], [slow, fast, math.nan], linewidth=1, solid_capstyle="butt", **style)
            axes.plot([x], [middle], clip_on=False, **{**series.line(), "linestyle": ""})
            mark(canvas, axes, x, middle, (*words_of(case), series.label, *numbers(row)))
        for line, words in enumerate(case[4]):
            canvas.text(on_canvas(canvas, axes, place, 0)[0], box[3] + 18 + 15 * line, words, color="muted", ha="center")
    x, y = on_canvas(canvas, axes, axes.get_xlim()[1], panel.roof)
    canvas.text(x, y - 11, f"Device copy, {panel.roof:,.0f} GB/s", color="limit", ha="right")
    return axes


def dropout_bandwidth(record: Record) -> Chart:
    return bandwidths(panels_of(record, DROPOUT), "dropout")


def gated_bandwidth(record: Record) -> Chart:
    return bandwidths(panels_of(record, GATED), "gated units in bfloat16")


def gelu_bandwidth(record: Record) -> Chart:
    return bandwidths(panels_of(record, GELU), "GELU in bfloat16")


CHARTS = {
    "dropout_bandwidth": (dropout_bandwidth, ("dropout/benchmark",)),
    "gated_bandwidth": (gated_bandwidth, ("gated_activations/benchmark",)),
    "gelu_bandwidth": (gelu_bandwidth, ("gated_activations/benchmark_gelu",)),
}
