"""Charts of the memory chapter: working sets and strides."""

from collections.abc import Callable

from scripts.chart_curves import bandwidth_axes, ceiling_of
from scripts.chart_data import RATES, TIMES, Chart, Curve, Record, choose, numbers, rates, sides
from scripts.chart_style import COLORS, LEGEND_ROW, Canvas, Variant, legend_rows, on_canvas

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


def strides(record: Record) -> Chart:
    copy = record["ceilings"]["copy"]
    roof = rates(copy)[1]
    rows = called(record, "strided_copy")
    steps = [sides(row["shape"])[1] for row in rows]
    moved = [row | {"bytes": moved_by(count)} for row, count in zip(rows, record["counters"], strict=True)]
    curves = [Curve("moved", steps, moved), Curve("useful", steps, rows)]

    def paint(variant: Variant) -> Canvas:
        left, top, bottom = (50, 24, 320) if variant.wide else (46, 24, 270)
        canvas = Canvas(variant, bottom + 52 + LEGEND_ROW)
        box = (left, top, variant.width - 10, bottom)
        axes = bandwidth_axes(canvas, box, curves, roof, ceiling_of(curves, roof, bottom - top))
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
        ticks = [step for step in steps if step & (step - 1) == 0]
        axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
        x, y = on_canvas(canvas, axes, axes.get_xlim()[1], roof)
        canvas.text(x, y - 6, f"Device copy, {roof:,.0f} GB/s", color="limit", ha="right")
        canvas.text(0, 14, "GB/s", color="muted")
        canvas.text(left, bottom + 39, "Stride, in elements of four bytes", color="muted")
        canvas.legend(left if variant.wide else 0, bottom + 63, [(curve.series, curve.series.label) for curve in curves])
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
    "memory_strides": (strides, ("memory/strides",)),
}
