"""Charts of the softmax chapter: time against each peer, shape by shape, and the traffic of each kernel."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from scripts.drawing.data import TIMES, TIMINGS, Chart, Record, capital, choose, listed, sides
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Variant, legend_rows, on_canvas, text_width
from scripts.pages.formats import ms

DIRECTIONS = {"fwd": "forward", "bwd": "backward"}
PEERS = ("eager", "compile", "compile_max", "liger", "flash_triton", "eager_hf")
STEP = 32
LANE = 5.5
EDGE = 4
GAP = 4
Case = tuple[str, str, str, str]


class Comparison:
    """Each peer's time over Blockwise's median in the same case: above one, Blockwise is faster."""

    def __init__(self, record: Record, op: str):
        rows = choose(record, op=op)
        self.ours = {case_of(row): row for row in rows if row["implementation"] == "blockwise"}
        self.times = {(case_of(row), row["implementation"]): row["ms"] for row in rows if case_of(row) in self.ours}
        self.peers = [name for name in PEERS if any(name == implementation for _, implementation in self.times)]
        reach = [value for case, name in product(self.ours, self.peers) for value in self.ratio(case, name)]
        self.low, self.high = min(0.7, *reach) / 1.08, max(2, *reach) * 1.12

    @property
    def step(self) -> float:
        """The height of a case, in which every implementation has a lane of its own."""
        return max(STEP, LANE * (len(self.peers) + 1) + 4)

    def ratio(self, case: Case, name: str) -> list[float]:
        """At p20, p50 and p80; nothing where the peer has no time."""
        times = self.times.get((case, name))
        return [time / self.ours[case]["ms"][1] for time in times] if times else []

    def numbers(self, case: Case, name: str) -> list[float]:
        """Times and ratios as a table shows them."""
        return [*self.times[case, name], *(round(value, 4) for value in self.ratio(case, name))]

    def losses(self, timing: str) -> str:
        """In how many cases of a timing some peer is faster, and the worst of them, in words."""
        cases = [case for case in self.ours if case[3] == timing]
        behind = sorted((self.best(case), case) for case in cases if self.best(case)[0] < 1)
        words = f"{capital(TIMINGS[timing])}, some peer is faster in {len(behind)} of {len(cases)} cases"
        if behind:
            (least, peer), (shape, dtype, direction, _) = behind[0]
            words += f", at most in {shape} {dtype} {DIRECTIONS[direction]}, where {peer} is at {least:.2f}"
        return f"{words}."

    def best(self, case: Case) -> tuple[float, str]:
        return min((self.ratio(case, name)[1], SERIES[name].label) for name in self.peers if self.ratio(case, name))

    def spots(self, timing: str) -> list[tuple[str, str]]:
        """The shapes and types with a time, by the length of a row."""
        return sorted({case[:2] for case in self.ours if case[3] == timing}, key=spot_order)


def case_of(row: Record) -> Case:
    return row["shape"], row["dtype"], row["direction"], row["timing"]


def spot_order(spot: tuple[str, str]) -> tuple[int, int, str]:
    rows, columns = sides(spot[0])
    return columns, rows, spot[1]


def softmax_shapes(record: Record) -> Chart:
    return shapes(record, "softmax", "softmax")


def shapes(record: Record, op: str, name_of_op: str) -> Chart:
    """Every peer's time over ours, shape by shape, for one operation of a record."""
    comparison = Comparison(record, op)
    blocks = {timing: spots for timing in TIMINGS if (spots := comparison.spots(timing))}
    names = listed([SERIES[name].label for name in comparison.peers])

    def paint(variant: Variant) -> Canvas:
        items = [(SERIES[name]._replace(width=0), SERIES[name].label) for name in comparison.peers]
        legend = LEGEND_ROW * len(legend_rows(items, variant, 0))
        step = comparison.step
        columns, left, gap = (2, 136, 26) if variant.wide else (1, 108, 0)
        width = (variant.width - left - gap * (columns - 1) - 8) / columns
        down = len(DIRECTIONS) // columns
        canvas = Canvas(variant, legend + down * sum(94 + step * len(spots) for spots in blocks.values()) - 4)
        canvas.legend(0, 14, items)
        top = float(legend) + 48
        for timing, direction in product(blocks, DIRECTIONS):
            place = list(DIRECTIONS).index(direction) % columns
            x, bottom = left + place * (width + gap), top + step * len(blocks[timing])
            cases = [(*spot, direction, timing) for spot in blocks[timing]]
            panel(canvas, comparison, (x, top, x + width, bottom), cases, named=place == 0)
            if place == columns - 1:
                canvas.text(left, bottom + 37, "Time ÷ Blockwise's time", color="muted")
                top = bottom + 94
        return canvas

    title = f"Time of {name_of_op} in {names}, divided by the time of Blockwise in the same shape, type and direction."
    alt = (
        "Dot plot, a line for each shape and type, sorted by the length of a row; forward left, backward right. "
        f"Across, on a logarithmic scale: the time of each peer ({names}) divided by Blockwise's. "
        "Right of the line at one Blockwise is faster; left of it, on a shaded ground, slower. "
        f"{' '.join(comparison.losses(timing) for timing in blocks)}"
    )
    columns = ["direction", "shape", "type", "timing", "implementation", *TIMES]
    columns += [f"{quantile} / Blockwise's p50" for quantile in ("p20", "p50", "p80")]
    table = [
        [DIRECTIONS[direction], *spot, TIMINGS[timing], SERIES[name].label, *comparison.numbers(case, name)]
        for timing, spots in blocks.items()
        for direction, spot, name in product(DIRECTIONS, spots, ("blockwise", *comparison.peers))
        if ((case := (*spot, direction, timing)), name) in comparison.times
    ]
    return Chart(title, alt, columns, table, paint)


def panel(
    canvas: Canvas, comparison: Comparison, box: tuple[float, float, float, float], cases: Sequence[Case], named: bool
) -> None:
    """One line of dots for each case, of one direction and one timing."""
    _, _, direction, timing = cases[0]
    axes = canvas.ratio_axes(box, comparison.low, comparison.high)
    axes.set_ylim(len(cases), 0)
    middles = [place + 0.5 for place in range(len(cases))]
    axes.set_yticks(middles, [f"{shape.replace('x', '×')} {dtype}" for shape, dtype, _, _ in cases] if named else [])
    axes.axvspan(comparison.low, 1, color=COLORS["panel"], linewidth=0, clip_on=False)
    for place in range(len(cases) + 1):
        axes.axhline(place, color=COLORS["rule"], linewidth=0.7, clip_on=False)
    axes.axvline(1, color=COLORS["ours"], linewidth=1.6, clip_on=False)
    for name in ("blockwise", *comparison.peers):
        lane = 0 if name == "blockwise" else 1 + comparison.peers.index(name)  # each in a lane of its own, so none hides another
        rise = (lane - len(comparison.peers) / 2) * LANE / comparison.step
        dots = [(middle + rise, comparison.ratio(case, name)) for middle, case in zip(middles, cases, strict=True)]
        found = [(y, values) for y, values in dots if values]
        whiskers = [value for _, (fast, _, slow) in found for value in (fast, slow, math.nan)]
        style: dict[str, Any] = {"color": COLORS[SERIES[name].color], "linewidth": 3 if name == "blockwise" else 1}
        axes.plot(whiskers, [y for y, _ in found for _ in range(3)], solid_capstyle="butt", clip_on=False, **style)
        if name != "blockwise":
            look = {**SERIES[name].line(), "linestyle": "", "markeredgecolor": COLORS["paper"], "markeredgewidth": 0.7}
            axes.plot([values[1] for _, values in found], [y for y, _ in found], clip_on=False, **look)
        for (y, values), case in zip(dots, cases, strict=True):
            if values:
                cells = (DIRECTIONS[direction], *case[:2], TIMINGS[timing], SERIES[name].label)
                mark(canvas, axes, values[1], y, cells)
    x = on_canvas(canvas, axes, 1, 0)[0]
    heading = f"{capital(DIRECTIONS[direction])}, {TIMINGS[timing]}"
    canvas.text(box[0], box[1] - 28, heading, fontweight="bold")
    canvas.text(x - 5, box[1] - 7, "← slower", color="muted", ha="right")
    canvas.text(x + 5, box[1] - 7, "Blockwise faster →", color="muted")


def softmax_traffic(record: Record) -> Chart:
    matrix = record["extra"]["matrix_bytes"]
    size = f"{matrix / 1e9:.3g} GB" if matrix >= 1e9 else f"{matrix / 1e6:.3g} MB"
    names = list(dict.fromkeys(row["implementation"] for row in record["counters"]))
    bars = [[row for row in record["counters"] if row["implementation"] == name] for name in names]
    moved = [sum(moved_by(row) for row in kernels) / matrix for kernels in bars]
    sums = [(SERIES[name].label, summary(kernels, total)) for name, kernels, total in zip(names, bars, moved, strict=True)]

    def paint(variant: Variant) -> Canvas:
        top, step, reach = 44, 78, max(2.0, *moved)
        bottom = top + step * len(bars)
        canvas = Canvas(variant, bottom + 44)
        unit = (variant.width - 8) / reach
        least = [EDGE + 2 * unit] * 2
        canvas.line(least, [top - 15, top], color=COLORS["limit"], linewidth=1.2)
        canvas.text(least[0] + 6, top - 4, "the least: read once, written once", color="limit")
        for place, kernels in enumerate(bars):
            y = top + place * step
            bar(canvas, y, unit, matrix, kernels, sums[place])
            canvas.line(least, [y + 25, y + 53], color=COLORS["limit"], linewidth=1.2)  # at the bars alone, clear of the words
        canvas.line([EDGE, EDGE + reach * unit], [bottom, bottom], color=COLORS["muted"], linewidth=1)
        for tick in range(math.floor(reach) + 1):
            canvas.line([EDGE + tick * unit] * 2, [bottom, bottom + 4], color=COLORS["muted"], linewidth=1)
            canvas.text(EDGE + tick * unit, bottom + 18, f"{tick}", color="muted", ha="center")
        canvas.text(EDGE, bottom + 38, f"Bytes moved, in matrices of {size}", color="muted")
        for x, words in ((EDGE, "read"), (EDGE + 4.7 * variant.text, "written")):
            canvas.box(x, 4, 12, 12, **segment(words == "read"))
            canvas.text(x + 18, 14, words)
        return canvas

    title = f"Bytes that softmax moves to and from the GPU's memory, kernel by kernel: {listed([label for label, _ in sums])}."
    alt = (
        "Bar chart, a bar for each implementation, made of one piece for each kernel launched, in order: "
        "bytes read, then bytes written. "
        f"Across: bytes moved between the chip and its memory, counted by the hardware, in multiples of the matrix of {size}. "
        f"{' '.join(f'{label}: {words}.' for label, words in sums)} "
        "A line at two marks the least that softmax can move: every element read once and written once."
    )
    columns = ["implementation", "number", "kernel", "read (bytes)", "written (bytes)"]
    columns += ["read (matrices)", "written (matrices)", "time (ms)"]
    table = [
        [label, number, row["kernel"], *traffic, *(round(count / matrix, 4) for count in traffic), row["ms"]]
        for (label, _), kernels in zip(sums, bars, strict=True)
        for number, row in enumerate(kernels, 1)
        for traffic in [(row["dram_read_bytes"], row["dram_write_bytes"])]
    ]
    return Chart(title, alt, columns, table, paint)


def summary(kernels: Sequence[Record], matrices: float) -> str:
    count = "1 kernel" if len(kernels) == 1 else f"{len(kernels)} kernels"
    return f"{count}, {matrices:.2f} matrices, {ms(1e3 * sum(row['ms'] for row in kernels))}"


def moved_by(row: Record) -> int:
    return row["dram_read_bytes"] + row["dram_write_bytes"]


def segment(read: bool) -> dict:
    """Bytes read are solid, bytes written are outlined."""
    return {"facecolor": COLORS["memory"] if read else COLORS["paper"], "edgecolor": COLORS["memory"], "linewidth": 1.2}


def bar(canvas: Canvas, y: float, unit: float, matrix: int, kernels: Sequence[Record], words: tuple[str, str]) -> None:
    """An implementation's name and sums, its kernels' bytes end to end, and each kernel's number and name below."""
    size, right = canvas.variant.text, canvas.variant.width
    canvas.text(EDGE, y + 20, words[0], fontweight="bold")
    canvas.text(EDGE + text_width(words[0], size) + 12, y + 20, words[1], color="muted")
    widths = [moved_by(row) / matrix * unit for row in kernels]
    starts = [EDGE + sum(widths[:place]) for place in range(len(kernels))]
    labels = [f"{number} {short(row['kernel'])}" for number, row in enumerate(kernels, 1)]
    fit = all(x + text_width(label, size) < end for x, label, end in zip(starts, labels, [*starts[1:], right], strict=True))
    for number, (x, width, row) in enumerate(zip(starts, widths, kernels, strict=True), 1):
        read = min(row["dram_read_bytes"] / matrix * unit, width - GAP)
        canvas.box(x, y + 29, read, 20, **segment(True))
        if width - GAP - read > 1:
            canvas.box(x + read, y + 29, width - GAP - read, 20, **segment(False))
        canvas.line([x, x + width - GAP], [y + 54, y + 54], color=COLORS["muted"], linewidth=1)
        mark(canvas, None, x + width - GAP, y + 39, (words[0], number, row["kernel"]), (x, y + 39))
        canvas.text(x, y + 68, labels[number - 1] if fit else f"{number}", color="muted")


def short(kernel: str) -> str:
    return kernel.split("(")[0].split("<")[0].split("::")[-1].removesuffix("_kernel").removeprefix("vectorized_")


CHARTS = {
    "softmax_shapes": (softmax_shapes, ("fused_softmax/benchmark",)),
    "softmax_traffic": (softmax_traffic, ("fused_softmax/traffic",)),
}
