"""Charts of the memory chapter: working sets, the roofline, trips against block size, and strides."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes

from scripts.drawing.curves import bandwidth_axes, ceiling_of
from scripts.drawing.data import RATES, TIMES, Chart, Curve, Record, choose, numbers, rates, sides
from scripts.drawing.names import Names
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Variant, legend_rows, on_canvas

LIMIT = "device copy (the limit drawn)"
Box = tuple[float, float, float, float]


def called(record: Record, op: str) -> list[Record]:
    return choose(record, op=op, timing="call")


def moved_by(counted: Record) -> int:
    return counted["dram_read_bytes"] + counted["dram_write_bytes"]


def working_set(record: Record, levels: Record) -> Chart:
    copy, sizes = record["ceilings"]["copy"], levels["figures"]
    roof, paper, cache = rates(copy)[1], sizes["bus_gbps"], sizes["l2_bytes"] / 1e6
    curves = []
    for name in ("reread", "recopy"):
        rows = called(record, "working_set_read" if name == "reread" else "working_set_copy")
        curves.append(Curve(name, [int(row["shape"]) for row in rows], rows))

    def paint(variant: Variant) -> Canvas:
        left, top, bottom = (50, 24, 350) if variant.wide else (46, 24, 290)
        items = [(curve.series, curve.series.label) for curve in curves]
        edge = left if variant.wide else 0
        canvas = Canvas(variant, bottom + 52 + LEGEND_ROW * len(legend_rows(items, variant, edge)))
        box = (left, top, variant.width - 10, bottom)
        axes = bandwidth_axes(canvas, box, curves, roof, ceiling_of(curves, max(roof, paper), bottom - top))
        ticks = ((1, "1 MB"), (8, "8"), (64, "64"), (512, "512"), (4096, "4 GB"))
        axes.set_xticks([tick for tick, _ in ticks], [words for _, words in ticks])
        axes.axhline(paper, color=COLORS["muted"], linewidth=1, linestyle=(0, (4, 3)), clip_on=False)
        axes.axvline(cache, color=COLORS["memory"], linewidth=1, linestyle=(0, (4, 3)), clip_on=False)
        x, y = on_canvas(canvas, axes, axes.get_xlim()[0], roof)
        canvas.text(x, y + 15, f"Device copy, {roof:,.0f} GB/s", color="limit")
        canvas.text(x, on_canvas(canvas, axes, 1, paper)[1] - 6, f"On paper, {paper:,} GB/s", color="muted")
        x = on_canvas(canvas, axes, cache, 0)[0]
        canvas.text(x + 5, top + 4, f"the L2 cache: {cache:,.0f} MB", color="memory")
        canvas.text(0, 14, "GB/s", color="muted")
        canvas.text(left, bottom + 39, "Size of what is read again and again", color="muted")
        canvas.legend(edge, bottom + 63, items)
        return canvas

    title = "Bandwidth of one kernel that reads a buffer again and again, and one that copies, against the buffer's size."
    alt = (
        "Line chart. Across: size of the buffer, from a megabyte to four gigabytes, on a logarithmic scale. "
        "Up: bandwidth from zero, in GB/s. "
        f"{' '.join(f'{curve.at(0)} MB, {curve.rates[-1][1]:,.0f} GB/s at {curve.xs[-1]:,} MB.' for curve in curves)} "
        f"Both fall around the size of the L2 cache, {cache:,.0f} MB. "
        f"The copy of the same run moved {roof:,.0f} GB/s; clock times bus width is {paper:,}."
    )
    table = [[curve.series.label, x, *numbers(row)] for curve in curves for x, row in zip(curve.xs, curve.measured, strict=True)]
    table += [[LIMIT, None, *numbers(copy)], ["clock × bus width (drawn)", None, None, None, None, None, paper, None]]
    return Chart(title, alt, ["kernel", "size (MB)", *TIMES, *RATES], table, paint)


class Placed:
    """A kernel on the roofline: its rate, and its operations for each byte counted and each byte asked for."""

    def __init__(self, label: str, row: Record, counted: Record, asked: int):
        self.label, self.row = label, row
        self.rate = row["flops"] / row["ms"][1] / 1e6
        self.moved, self.asked = moved_by(counted), asked
        self.x, self.asked_x = row["flops"] / self.moved, row["flops"] / asked


def placed(record: Record) -> list[Placed]:
    """The kernels in the order in which the profiler watched them, which is the order of the measurements."""
    rows = [row for row in record["measurements"] if row["timing"] == "call"]
    found = []
    for row, counted in zip(rows, record["counters"], strict=True):
        name, asked = row["implementation"], row["bytes"]
        label = {"roofline_add": "add", "roofline_softmax": "softmax", "product": "cuBLAS"}[row["op"]]
        if name.startswith("tile"):
            side, tile = sides(row["shape"])[0], int(name.removeprefix("tile"))
            label, asked = f"tile {tile}", 2 * (2 * side**3 // tile) + 2 * side**2  # bfloat16: two bytes a number
        found.append(Placed(label, row, counted, asked))
    return found


def roofline(record: Record) -> Chart:
    kernels = placed(record)
    bandwidth = rates(record["ceilings"]["copy"])[1]
    matmul = record["ceilings"]["matmul"]
    peak = matmul["flops"] / matmul["ms"][1] / 1e6
    ridge = peak / bandwidth

    def paint(variant: Variant) -> Canvas:
        left, top, bottom = (64, 30, 400) if variant.wide else (52, 30, 330)
        canvas = Canvas(variant, bottom + 52 + 2 * LEGEND_ROW)
        axes = canvas.axes(left, top, variant.width - 14, bottom)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.minorticks_off()
        right = 2 * max(kernel.x for kernel in kernels)
        axes.set_xlim(0.04, right)
        axes.set_ylim(min(kernel.rate for kernel in kernels) / 3, 4 * peak)
        axes.set_xticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1,000"])
        ticks = [(10**power, words) for power, words in ((2, "0.1"), (3, "1"), (4, "10"), (5, "100"), (6, "1,000"))]
        low, high = axes.get_ylim()
        shown = [(tick, words) for tick, words in ticks if low <= tick <= high]
        axes.set_yticks([tick for tick, _ in shown], [words for _, words in shown])
        axes.grid(color=COLORS["rule"], linewidth=0.8, clip_on=False)
        corners = [(low / bandwidth, low), (ridge, peak), (right, peak)]
        if corners[0][0] < 0.04:
            corners[0] = (0.04, 0.04 * bandwidth)
        ends = [on_canvas(canvas, axes, *corner) for corner in corners]
        canvas.line([x for x, _ in ends], [y for _, y in ends], color=COLORS["limit"], linewidth=1.4)
        draw_kernels(canvas, axes, kernels, peak)
        words = f"{peak / 1e3:,.0f} TFLOP/s, large matrix product"
        canvas.text(ends[2][0], ends[2][1] - 36, words, color="limit", ha="right")
        slope = math.degrees(math.atan2(ends[0][1] - ends[1][1], ends[1][0] - ends[0][0]))
        x, y = on_canvas(canvas, axes, 0.7, 0.7 * bandwidth)
        canvas.text(x - 4, y - 8, f"{bandwidth:,.0f} GB/s, device copy", color="limit", ha="center", rotation=slope)
        canvas.text(0, 14, "TFLOP/s", color="muted")
        canvas.text(left, bottom + 39, "Operations a byte", color="muted")
        canvas.legend(0, bottom + 63, [(SERIES["from_memory"], SERIES["from_memory"].label)])
        canvas.legend(0, bottom + 63 + LEGEND_ROW, [(SERIES["asked"], SERIES["asked"].label)])
        return canvas

    title = "Kernels under the roofline: rate of arithmetic against operations for each byte."
    alt = (
        "Roofline chart, both axes logarithmic. Across: floating-point operations for each byte. Up: TFLOP/s. "
        f"The roof rises with the bandwidth of a copy, {bandwidth:,.0f} GB/s, to a large matrix product's "
        f"{peak / 1e3:,.0f} TFLOP/s, which it reaches at {ridge:,.0f} operations a byte. "
        + "; ".join(f"{kernel.label} {kernel.x:.3g} operations a byte, {kernel.rate / 1e3:.3g} TFLOP/s" for kernel in kernels)
        + "."
    )
    columns = ["kernel", "operations", "bytes asked for", "bytes counted by the hardware", *TIMES]
    columns += ["operations a byte asked for", "operations a byte counted", "rate (GFLOP/s)"]
    table: list[list[Any]] = [
        [kernel.label, kernel.row["flops"], kernel.asked, kernel.moved, *kernel.row["ms"]]
        + [round(kernel.asked_x, 4), round(kernel.x, 4), round(kernel.rate, 1)]
        for kernel in kernels
    ]
    table += [
        ["large matrix product (the roof)", matmul["flops"], None, None, *matmul["ms"], None, None, round(peak, 1)],
        [f"device copy (the slope), {bandwidth:,.0f} GB/s", None, record["ceilings"]["copy"]["bytes"], None]
        + [*record["ceilings"]["copy"]["ms"], None, None, None],
    ]
    return Chart(title, alt, columns, table, paint)


def draw_kernels(canvas: Canvas, axes: Axes, kernels: Sequence[Placed], peak: float) -> None:
    """A dot for each kernel where the memory saw it, and for tiles a ring where its programs' loads would put it."""
    for kernel in kernels:
        look = {**SERIES["from_memory"].line(), "linestyle": ""}
        if kernel.label == "cuBLAS":
            look |= {"color": COLORS["peer-1"], "markerfacecolor": COLORS["peer-1"], "marker": "s"}
        x, y = on_canvas(canvas, axes, kernel.x, kernel.rate)
        if kernel.label.startswith("tile"):
            start = on_canvas(canvas, axes, kernel.asked_x, kernel.rate)[0]
            canvas.line([start + 4, x], [y, y], color=COLORS["ours"], linewidth=0.8, linestyle=(0, (2, 2)))
            axes.plot([kernel.asked_x], [kernel.rate], clip_on=False, **{**SERIES["asked"].line(), "linestyle": ""})
        axes.plot([kernel.x], [kernel.rate], clip_on=False, **look)
        cells = (kernel.label, kernel.row["flops"], kernel.asked, kernel.moved, *kernel.row["ms"])
        mark(canvas, axes, kernel.x, kernel.rate, cells)
        if kernel.label == "cuBLAS":
            canvas.text(x, y - 11, kernel.label, ha="right")
        elif kernel.rate > 0.6 * peak:
            canvas.text(x - 6, y + 19, kernel.label)
        else:
            canvas.text(x + 8, y + 4.5, kernel.label)


def trips(blocks: Record, tiles: Record) -> Chart:
    added = [row for row in called(blocks, "blocked_add")]
    multiplied = [row for row in called(tiles, "product") if row["implementation"].startswith("tile")]
    first = next(place for place, kernel in enumerate(placed(tiles)) if kernel.label.startswith("tile"))
    halves = [
        ("Addition", [int(row["implementation"].removeprefix("block")) for row in added], added, blocks["counters"]),
        (
            "Matrix product",
            [int(row["implementation"].removeprefix("tile")) for row in multiplied],
            multiplied,
            tiles["counters"][first : first + len(multiplied)],
        ),
    ]

    def paint(variant: Variant) -> Canvas:
        left, gap = (44, 62) if variant.wide else (38, 44)
        height = 130 if variant.wide else 110
        canvas = Canvas(variant, 2 * height + 148)
        width = (variant.width - left - gap - 10) / 2
        for place, (name, xs, rows, counted) in enumerate(halves):
            x = left + place * (width + gap)
            canvas.text(x, 14, name, fontweight="bold")
            upper = (x, 44, x + width, 44 + height)
            lower = (x, 92 + height, x + width, 92 + 2 * height)
            gigabytes = [moved_by(count) / 1e9 for count in counted]
            above = panel(canvas, upper, "moved", xs, gigabytes, variant)
            below = panel(canvas, lower, "taken", xs, [row["ms"][1] for row in rows], variant)
            for side, size, row in zip(xs, gigabytes, rows, strict=True):
                mark(canvas, above, side, size, (name, side, *row["ms"]))
                mark(canvas, below, side, row["ms"][1], (name, side, *row["ms"]))
            canvas.text(x, 34, "GB through HBM", color="muted")
            canvas.text(x, 82 + height, "Time, ms", color="muted")
            words = ("Elements a block" if place == 0 else "Side of a tile") if variant.wide else ("Block", "Tile")[place]
            canvas.text(x, 2 * height + 131, words, color="muted")
        return canvas

    title = "Bytes through memory and time against the size of a block: an addition and a matrix product."
    said = [
        f"{name}: "
        + ", ".join(f"{x:,} gives {moved_by(count) / 1e9:.3g} GB and {row['ms'][1]:.3g} ms" for x, row, count in zipped)
        for name, xs, rows, counted in halves
        for zipped in [list(zip(xs, rows, counted, strict=True))]
    ]
    alt = (
        "Four line charts: an addition left, a matrix product right; above, gigabytes moved between the chip and its memory, "
        f"counted by the hardware; below, time. Across: the size of a block, on a logarithmic scale. {'. '.join(said)}."
    )
    table = [
        [name, x, count["dram_read_bytes"], count["dram_write_bytes"], round(moved_by(count) / 1e9, 1)]
        + [*row["ms"], round(row["ms"][1], 1), count["registers"]]
        for name, xs, rows, counted in halves
        for x, row, count in zip(xs, rows, counted, strict=True)
    ]
    columns = ["operation", "block or tile", "read (bytes)", "written (bytes)", "moved (GB)", *TIMES, "time (ms)"]
    return Chart(title, alt, [*columns, "registers per thread"], table, paint)


def panel(canvas: Canvas, box: Box, series: str, xs: Sequence[int], ys: Sequence[float], variant: Variant) -> Axes:
    """One curve over a logarithmic x, up from zero."""
    axes = canvas.axes(*box)
    axes.set_xscale("log", base=2)
    axes.minorticks_off()
    axes.set_xlim(min(xs) / 1.3, max(xs) * 1.3)
    axes.set_ylim(0, 1.15 * max(ys))
    every = {(True, True): 1, (True, False): 2, (False, True): 2, (False, False): 4}[len(xs) < 6, variant.wide]
    ticks = [x for x in xs if round(math.log2(x / xs[0])) % every == 0]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.locator_params(axis="y", nbins=4)
    axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
    axes.axhline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    axes.plot(xs, ys, clip_on=False, **SERIES[series].line())
    return axes


def counted(curve: Curve, x: int, row: Record) -> tuple[Any, ...]:
    return curve.series.label, x, row["bytes"], *numbers(row)


def strides(record: Record) -> Chart:
    copy = record["ceilings"]["copy"]
    roof = rates(copy)[1]
    rows = called(record, "strided_copy")
    steps = [sides(row["shape"])[1] for row in rows]
    moved = [row | {"bytes": moved_by(count)} for row, count in zip(rows, record["counters"], strict=True)]
    curves = [Curve("moved", steps, moved), Curve("useful", steps, rows)]

    def paint(variant: Variant) -> Canvas:
        left, top, bottom = (50, 24, 320) if variant.wide else (46, 24, 270)
        names = Names(variant, [(curve.series, curve.series.label) for curve in curves], least=10)
        canvas = Canvas(variant, bottom + 52 + names.legend)
        box = (left, top, variant.width - names.margin, bottom)
        axes = bandwidth_axes(canvas, box, curves, roof, ceiling_of(curves, roof, bottom - top), counted)
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
        ticks = [step for step in steps if step & (step - 1) == 0]
        axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
        x, y = on_canvas(canvas, axes, axes.get_xlim()[1], roof)
        canvas.text(x, y - 6, f"Device copy, {roof:,.0f} GB/s", color="limit", ha="right")
        canvas.text(0, 14, "GB/s", color="muted")
        canvas.text(left, bottom + 39, "Stride, in elements of four bytes", color="muted")
        names.write(canvas, axes, [(steps[-1], curve.rates[-1][1]) for curve in curves], bottom + 63)
        return canvas

    title = "Bandwidth of copying every s-th float32 number against the stride s: bytes that are used, and bytes that are moved."
    alt = (
        f"Line chart. Across: the stride, 1 to {steps[-1]}, on a logarithmic scale. Up: bandwidth from zero, in GB/s. "
        + " ".join(
            f"{curve.series.label}: "
            + ", ".join(f"{rate:,.0f} at {x}" for x, (_, rate, _) in zip(curve.xs, curve.rates, strict=True))
            + "."
            for curve in curves
        )
        + f" The copy of the same run: {roof:,.0f} GB/s."
    )
    table = [
        [curve.series.label, x, row["bytes"], *numbers(row)]
        for curve in curves
        for x, row in zip(curve.xs, curve.measured, strict=True)
    ]
    return Chart(
        title,
        alt,
        ["bytes counted", "stride", "bytes", *TIMES, *RATES],
        [*table, [LIMIT, None, copy["bytes"], *numbers(copy)]],
        paint,
    )


CHARTS: dict[str, tuple[Callable[..., Chart], tuple[str, ...]]] = {
    "memory_working_set": (working_set, ("memory/working_set", "memory/levels")),
    "memory_roofline": (roofline, ("memory/roofline",)),
    "memory_trips": (trips, ("memory/block_sizes", "memory/roofline")),
    "memory_strides": (strides, ("memory/strides",)),
}
