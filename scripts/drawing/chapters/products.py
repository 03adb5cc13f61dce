"""The charts of *Matmul on Hopper*: the library's products beside cuBLAS, shape by shape, losses drawn as wins are."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scripts.drawing.data import TIMES, Chart, Record, choose
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, Canvas, Series, Variant, legend_rows, on_canvas, text_width

LANE, HEAD, GAP = 22, 30, 12


class Mark(NamedTuple):
    """One implementation in a lane: its times, and its ratio at the slow, the middle and the fast quantile."""

    series: Series
    name: str
    ms: list[float]
    ratios: list[float]


class Lane(NamedTuple):
    label: str
    marks: list[Mark]


class Part(NamedTuple):
    heading: str
    lanes: list[Lane]


def of_library(row: Record, peer: Record) -> list[float]:
    """How many times as fast as the peer's median: above one is ahead."""
    return [round(peer["ms"][1] / ms, 4) for ms in reversed(row["ms"])]


def of_bound(row: Record, bound: Record) -> list[float]:
    """How many times as long as the median of what must be done anyway."""
    return [round(ms / bound["ms"][1], 4) for ms in row["ms"]]


def spelled(shape: str) -> str:
    return " × ".join(f"{int(side):,}" for side in shape.split("x"))


def ratio_chart(parts: Sequence[Part], title: str, alt: str, line: str, ahead: str = "faster →") -> Chart:
    """A lane for each case, a mark for each implementation, and a line at one, which `line` names; `ahead` is where to be."""
    all_found = [found for part in parts for lane in part.lanes for found in lane.marks]
    items = list(dict.fromkeys((found.series, found.series.label) for found in all_found))
    low, high = min(1, *(found.ratios[0] for found in all_found)), max(1, *(found.ratios[2] for found in all_found))
    room = 0.04 * (high - low)

    def paint(variant: Variant) -> Canvas:
        legend = LEGEND_ROW * len(legend_rows(items, variant, 0))
        lanes = sum(HEAD + LANE * len(part.lanes) + GAP for part in parts)
        canvas = Canvas(variant, lanes + 42 + legend)
        left = 12 + max(text_width(lane.label, variant.text) for part in parts for lane in part.lanes)
        canvas.text(variant.width - 8, 18, ahead, color="muted", ha="right")
        y, axes = 0.0, None
        for part in parts:
            canvas.text(0, y + 18, part.heading, fontweight="bold")
            axes = canvas.axes(left, y + HEAD, variant.width - 8, y + HEAD + LANE * len(part.lanes))
            axes.set_xlim(low - room, high + room)
            axes.set_ylim(len(part.lanes) - 0.5, -0.5)
            axes.set_xticks([])
            axes.set_yticks([])
            axes.axvline(1, color=COLORS["limit"], linewidth=1.4, clip_on=False)
            for place, lane in enumerate(part.lanes):
                canvas.text(0, on_canvas(canvas, axes, 1, place)[1] + 4.5, lane.label)
                axes.axhline(place, color=COLORS["rule"], linewidth=0.8, zorder=0.5, clip_on=False)
                for found in lane.marks:
                    style = found.series.line()
                    axes.plot(found.ratios[::2], [place] * 2, color=style["color"], linewidth=1.2, clip_on=False)
                    axes.plot(found.ratios[1:2], [place], clip_on=False, zorder=3, **(style | {"linestyle": ""}))
                    mark(canvas, axes, found.ratios[1], place, (part.heading, lane.label, found.name))
            y += HEAD + LANE * len(part.lanes) + GAP
        assert axes is not None
        for value in ticks(low, high, int((variant.width - 8 - left) / 42)):
            across = on_canvas(canvas, axes, value, 0)[0]
            canvas.text(across, y + 8, f"{value:g}×", color="muted", ha="center")
        name_line(canvas, on_canvas(canvas, axes, 1, 0)[0], y + 27, f"1×: {line}")
        canvas.legend(0, y + 32 + LEGEND_ROW, items)
        return canvas

    said = []
    for part in parts:
        for lane in part.lanes:
            each = ", ".join(f"{found.series.label} {found.ratios[1]:.2f}" for found in lane.marks)
            said.append(f"{part.heading}, {lane.label}: {each}.")
    table = [
        [part.heading, lane.label, found.name, *found.ms, *found.ratios]
        for part in parts
        for lane in part.lanes
        for found in lane.marks
    ]
    columns = ["part", "case", "implementation", *TIMES, "ratio, low", "ratio", "ratio, high"]
    return Chart(title, f"{alt} {' '.join(said)}", columns, table, paint)


def name_line(canvas: Canvas, x: float, y: float, words: str) -> None:
    """The name of the line at one: under it, or as near as the drawing's edge lets it."""
    half = text_width(words, canvas.variant.text) / 2
    canvas.text(min(x, canvas.variant.width - half), y, words, color="limit", ha="center")


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """A few round ratios between the two, one among them."""
    step = next(step for step in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100) if (high - low) / step <= most)
    first, last = -int((1 - low) / step), int((high - 1) / step)
    return [round(1 + step * number, 3) for number in range(first, last + 1)]


NN = Series("rows by rows (NN)", "ours", "o", width=0)
NT = Series("rows by columns (NT)", "peer-1", "s", width=0, hollow=True)
LAYOUTS = {"blockwise_nn": (NN, "eager"), "blockwise_nt": (NT, "eager_nt")}
SCALES = {
    "blockwise_tensor": (Series("one scale, against fast sums", "ours", "o", width=0), "scaled_mm_tensor_fast"),
    "blockwise_row": (Series("a scale a row, against fast sums", "peer-1", "s", width=0, hollow=True), "scaled_mm_row_fast"),
}
KINDS = {"bf16": "bfloat16", "fp16": "float16", "fp8": "e4m3"}
Pairs = dict[str, tuple[Series, str]]


def parts_of(record: Record, pairs: Pairs, heading: Callable[[str, str], str]) -> list[Part]:
    """The cases in the order in which they were timed, in parts by their heading; each by its replays where there are any."""
    found: dict[str, dict[str, dict[str, Record]]] = {}
    for row in (row for timing in ("call", "graph") for row in choose(record, timing=timing)):
        part = found.setdefault(heading(row["shape"], row["dtype"]), {})
        part.setdefault(row["shape"], {})[row["implementation"]] = row
    return [
        Part(title, [Lane(spelled(shape), marks_of(rows, pairs)) for shape, rows in cases.items()])
        for title, cases in found.items()
    ]


def marks_of(rows: dict[str, Record], pairs: Pairs) -> list[Mark]:
    return [Mark(series, name, rows[name]["ms"], of_library(rows[name], rows[peer])) for name, (series, peer) in pairs.items()]


def squares_and_layers(shape: str, dtype: str) -> str:
    kind = "squares" if len(set(shape.split("x"))) == 1 else "layers, and few terms"
    return f"{KINDS[dtype]}, {kind}"


ALT = "Dot chart. Across: how many times as fast as the peer, whose time is the line at one; to the right is ahead. "
ALT += "Short products are replayed from a CUDA graph, without the host's time."


def products_shapes(record: Record) -> Chart:
    title = "The library's matrix product beside cuBLAS: how many times as fast, for each shape and layout."
    return ratio_chart(parts_of(record, LAYOUTS, squares_and_layers), title, ALT, "cuBLAS")


def narrow_shapes(record: Record) -> Chart:
    def heading(shape: str, dtype: str) -> str:
        m, n, _ = map(int, shape.split("x"))
        return f"{KINDS[dtype]}, {'few rows' if m < n else 'few tiles, long sums'}"

    title = "The library's product beside cuBLAS where a matrix is narrow or the sums are long: how many times as fast."
    return ratio_chart(parts_of(record, LAYOUTS, heading), title, ALT, "cuBLAS")


def scaled_shapes(record: Record) -> Chart:
    title = "The library's product of 8-bit floats beside cuBLAS with fast sums: how many times as fast."
    parts = parts_of(record, SCALES, lambda shape, dtype: KINDS[dtype])
    return ratio_chart(parts, title, ALT, "torch._scaled_mm")


CHARTS = {
    "products_shapes": (products_shapes, ("hopper/benchmark",)),
    "narrow_shapes": (narrow_shapes, ("hopper/benchmark_skinny",)),
    "scaled_shapes": (scaled_shapes, ("hopper/benchmark_fp8",)),
}
