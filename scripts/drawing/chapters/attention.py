"""The charts of *Attention, measured*: rates over the length, masks beside FlexAttention, and decoding beside a copy."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from scripts.drawing.chapters.products import Lane, Mark, Part, of_library, ratio_chart
from scripts.drawing.curves import Box
from scripts.drawing.data import TIMES, Chart, Curve, Record, choose, curves_of, listed, sides, ticks
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Series, Variant, legend_rows, on_canvas

MASKS = {"attention": "no mask", "attention_causal": "causal"}
TOKENS = 16384
FLOPS = ["TFLOP/s at p80", "TFLOP/s at p50", "TFLOP/s at p20"]
IN_WORDS = {"flex": "compiled FlexAttention", "tutorial": "the Triton tutorial's method"}
LIMIT = "a large product in bfloat16 (the limit drawn)"


class Panel(NamedTuple):
    """The lengths of one size of head and one mask."""

    head: int
    mask: str
    curves: list[Curve]


def length_of(row: Record) -> int:
    return sides(row["shape"])[2]


def speeds(row: Record) -> list[float]:
    """TFLOP/s at the slow, the middle and the fast quantile, as the table has them."""
    return [round(row["flops"] / ms / 1e9, 1) for ms in reversed(row["ms"])]


def panels_of(record: Record, direction: str) -> list[Panel]:
    found = []
    for head in sorted({sides(row["shape"])[3] for op in MASKS for row in choose(record, op=op)}):
        for op, mask in MASKS.items():
            rows = [
                row
                for row in choose(record, op=op, direction=direction, timing="call")
                if sides(row["shape"])[3] == head and sides(row["shape"])[0] * length_of(row) == TOKENS
            ]
            found.append(Panel(head, mask, curves_of(rows, length_of)))
    return found


def over_length(direction: str, what: str) -> Callable[[Record], Chart]:
    """A chart of the rates in one direction: a row of panels for each size of head."""

    def chart(record: Record) -> Chart:
        panels, product = panels_of(record, direction), record["ceilings"]["matmul"]
        roof = speeds(product)[1]
        shown = [name for name in SERIES if any(curve.name == name for panel in panels for curve in panel.curves)]
        top = max([roof, *(speeds(row)[2] for panel in panels for curve in panel.curves for row in curve.measured)])

        def paint(variant: Variant) -> Canvas:
            items = [(SERIES[name], SERIES[name].label) for name in shown]
            columns, left, gap, height, down = (2, 58, 28, 180, 252) if variant.wide else (1, 54, 0, 150, 222)
            above = 40 + LEGEND_ROW * len(legend_rows(items, variant, 0))
            width = (variant.width - left - 8 - gap * (columns - 1)) / columns
            bottom = above + down * math.ceil(len(panels) / columns) - (down - height)
            canvas = Canvas(variant, bottom + 48)
            canvas.legend(0, 14, items)
            for place, panel in enumerate(panels):
                x, y = left + place % columns * (width + gap), above + place // columns * down
                draw(canvas, panel, (x, y, x + width, y + height), roof, top * height / (height - 24), place % columns == 0)
            canvas.text(left, bottom + 39, "Length of a sequence, in tokens", color="muted")
            return canvas

        names = listed([IN_WORDS.get(name, SERIES[name].label) for name in shown])
        said = [
            f"Heads of {panel.head}, {panel.mask}: {'; '.join(at_ends(curve) for curve in panel.curves)}." for panel in panels
        ]
        title = f"Rate of attention {what} in bfloat16 against the length of the sequences, {TOKENS:,} tokens each time: {names}."
        alt = (
            "Line charts, one for each size of a head and each mask. Across: the length, on a logarithmic scale. "
            f"Up: TFLOP/s from zero. {' '.join(said)} A large product of matrices in the same run: {roof:,.0f} TFLOP/s."
        )
        table: list[list[Any]] = [
            [panel.head, panel.mask, curve.series.label, x, *row["ms"], *speeds(row)]
            for panel in panels
            for curve in panel.curves
            for x, row in zip(curve.xs, curve.measured, strict=True)
        ]
        table.append([None, None, LIMIT, None, *product["ms"], *speeds(product)])
        columns = ["size of a head", "mask", "implementation", "length", *TIMES, *FLOPS]
        return Chart(title, alt, columns, table, paint)

    return chart


def at_ends(curve: Curve) -> str:
    first, last = (speeds(curve.measured[place])[1] for place in (0, -1))
    return f"{curve.series.label} {first:,.0f} TFLOP/s at {curve.xs[0]:,} and {last:,.0f} at {curve.xs[-1]:,}"


def draw(canvas: Canvas, panel: Panel, box: Box, roof: float, top: float, named: bool) -> None:
    axes = canvas.axes(*box)
    lengths = sorted({x for curve in panel.curves for x in curve.xs})
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xlim(lengths[0] / 1.15, lengths[-1] * 1.15)
    axes.set_ylim(0, top)
    axes.set_xticks(lengths, [f"{length // 1024}k" for length in lengths])
    places = ticks(top, 200)
    axes.set_yticks(places, [f"{place}" for place in places] if named else [])
    axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
    axes.axhline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    axes.axhline(roof, color=COLORS["limit"], linewidth=1.2, clip_on=False)
    for curve in reversed(panel.curves):
        found = [speeds(row) for row in curve.measured]
        ends = [value for slow, _, fast in found for value in (slow, fast, math.nan)]
        whisker: dict[str, Any] = {"color": COLORS[curve.series.color], "linewidth": 1, "solid_capstyle": "butt"}
        axes.plot([x for x in curve.xs for _ in range(3)], ends, clip_on=False, **whisker)
        axes.plot(curve.xs, [middle for _, middle, _ in found], clip_on=False, **curve.series.line())
        for length, (_, middle, _) in zip(curve.xs, found, strict=True):
            mark(canvas, axes, length, middle, (panel.head, panel.mask, curve.series.label, length))
    canvas.text(box[0], box[1] - 12, f"Heads of {panel.head}, {panel.mask}", fontweight="bold")
    if named:
        canvas.text(0, box[1] - 12, "TFLOP/s", color="muted")
        name_roof(canvas, axes, panel, roof)


def name_roof(canvas: Canvas, axes: Axes, panel: Panel, roof: float) -> None:
    """Over the roof at the left, or where a line goes through it, under it at the right."""
    passed = any(speeds(row)[1] > roof for curve in panel.curves for row in curve.measured)
    x, y = on_canvas(canvas, axes, axes.get_xlim()[passed], roof)
    words = f"A large product, {roof:,.0f} TFLOP/s"
    canvas.text(x, y + 16 if passed else y - 6, words, color="limit", ha="right" if passed else "left")


OURS = SERIES["blockwise"]._replace(width=0)
OTHERS = {name: SERIES[name]._replace(width=0) for name in ("flash", "flex", "cudnn", "tutorial")}
WAYS = {"fwd": "forward", "bwd": "backward"}
MASKED = {"attention_window": "Windows", "attention_documents": "Documents"}


def in_words(op: str, shape: str) -> str:
    """A case without what all of them have in common."""
    _, _, length, head, last = sides(shape)
    return f"{length // 1024}k, heads of {head}" + (f", {last} documents" if op == "attention_documents" else "")


def masks(record: Record) -> Chart:
    """Windows and documents: how many times as fast as compiled FlexAttention."""
    parts = []
    for op, words in MASKED.items():
        for direction, way in WAYS.items():
            rows = choose(record, op=op, direction=direction, timing="call")
            lanes = []
            for shape in dict.fromkeys(row["shape"] for row in rows):
                times = {row["implementation"]: row for row in rows if row["shape"] == shape}
                shown = [name for name in ("blockwise", "flash") if name in times]
                marks = [of_peer(times[name], times["flex"], {"blockwise": OURS, **OTHERS}[name]) for name in shown]
                lanes.append(Lane(in_words(op, shape), marks))
            parts.append(Part(f"{words}, {way}", lanes))
    title = "Attention in windows and in documents beside compiled FlexAttention: how many times as fast."
    alt = "Dot chart. Across: how many times as fast as FlexAttention, the line at one; to the right is ahead."
    return ratio_chart(parts, title, alt, "FlexAttention, compiled")


def of_peer(row: Record, peer: Record, series: Series) -> Mark:
    return Mark(series, row["implementation"], row["ms"], of_library(row, peer))


def decode(record: Record) -> Chart:
    """One query over many keys: which share of the copy's rate; of the replay where there is one."""
    best = {(row["shape"], row["implementation"]): row for row in record["measurements"]}
    parts: dict[int, list[Lane]] = {}
    for shape in dict.fromkeys(row["shape"] for row in record["measurements"]):
        batches, _, _, length, _ = sides(shape)
        present = {name: series for name, series in {"blockwise": OURS, **OTHERS}.items() if (shape, name) in best}
        marks = [of_peer(best[shape, name], best[shape, "copy"], series) for name, series in present.items()]
        parts.setdefault(batches, []).append(Lane(f"{length // 1024}k keys", marks))
    named = [Part(f"{count} sequence{'s' * (count > 1)}", lanes) for count, lanes in parts.items()]
    title = "One query a sequence over many keys: its rate as a multiple of that of a device copy of as many bytes."
    alt = "Dot chart. Across: the rate over keys and values, as a multiple of the copy's, the line at one; to the right is ahead."
    return ratio_chart(named, title, alt, "a copy of as many bytes")


CHARTS = {
    "attention_forward": (over_length("fwd", "forward"), ("attention_peers/forward",)),
    "attention_backward": (over_length("bwd", "backward"), ("attention_peers/backward",)),
    "attention_masks": (masks, ("attention_peers/masks",)),
    "attention_decode": (decode, ("attention_peers/decode",)),
}
