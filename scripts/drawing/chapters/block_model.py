"""Charts of *The block model*: what a program's warps change, and in which order programs ran."""

from typing import Any

from scripts.drawing.curves import LIMIT, bandwidth_axes, ceiling_of, name_roof
from scripts.drawing.data import RATES, TIMES, Chart, Curve, Record, choose, listed, numbers, rates, sides
from scripts.drawing.names import Names
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, SERIES, Canvas, Variant, on_canvas


def cells(curve: Curve, x: int, row: Record) -> tuple[Any, ...]:
    return int(curve.name.split("_")[1]), x, *numbers(row)


def block_model_warps(record: Record) -> Chart:
    """Bandwidth against num_warps, a curve for each BLOCK; the record names them `block_64_warps_2`."""
    copy = record["ceilings"]["copy"]
    roof = rates(copy)[1]
    rows = choose(record, op="double", timing="call")
    by_case = {(int(parts[1]), int(parts[3])): row for row in rows if (parts := row["implementation"].split("_"))}
    blocks = sorted({block for block, _ in by_case})
    warps = sorted({number for _, number in by_case})
    curves = [Curve(f"lanes_{block}", warps, [by_case[block, number] for number in warps]) for block in blocks]
    elements = sides(rows[0]["shape"])[0]

    def paint(variant: Variant) -> Canvas:
        line_names = Names(variant, [(curve.series, curve.series.label) for curve in curves], least=26)
        left, top, bottom = (50, 20, 300) if variant.wide else (46, 20, 260)
        canvas = Canvas(variant, bottom + 52 + line_names.legend)
        box = (left, top, variant.width - line_names.margin, bottom)
        axes = bandwidth_axes(canvas, box, curves, roof, ceiling_of(curves, roof, bottom - top), cells)
        axes.set_xticks(warps, [f"{number}" for number in warps])
        name_roof(canvas, axes, roof)
        canvas.text(0, 14, "GB/s", color="muted")
        canvas.text(left, bottom + 39, "num_warps", color="muted")
        line_names.write(canvas, axes, [(warps[-1], curve.rates[-1][1]) for curve in curves], bottom + 63)
        return canvas

    names = listed([f"{block:,}" for block in blocks])
    title = f"Memory bandwidth of doubling {elements:,} float32 elements against num_warps, with a BLOCK of {names}."
    ends = "; ".join(
        f"{curve.series.label} {curve.rates[0][1]:,.0f} GB/s with {warps[0]} warp, {curve.rates[-1][1]:,.0f} with {warps[-1]}"
        for curve in curves
    )
    alt = (
        f"Line chart. Across: num_warps, {listed([str(number) for number in warps])}. Up: memory bandwidth from zero, in GB/s. "
        f"{ends}. The copy of the same run: {roof:,.0f} GB/s."
    )
    table = [
        [block, number, *numbers(row)]
        for block, curve in zip(blocks, curves, strict=True)
        for number, row in zip(warps, curve.measured, strict=True)
    ]
    return Chart(title, alt, ["BLOCK", "num_warps", *TIMES, *RATES], [*table, [LIMIT, None, *numbers(copy)]], paint)


def block_model_order(record: Record) -> Chart:
    """Tickets against program ids."""
    kept: dict[str, Any] = record["figures"]
    tickets, before, places = kept["tickets"], kept["before"], kept["places"]
    count = len(tickets)
    table = [list(row) for row in zip(range(count), tickets, before, places, strict=True)]

    def paint(variant: Variant) -> Canvas:
        left, top, bottom = (50, 20, 400) if variant.wide else (40, 20, 300)
        canvas = Canvas(variant, bottom + 48)
        axes = canvas.axes(left, top, variant.width - 12, bottom)
        axes.set_xlim(-0.01 * count, 1.01 * count)
        axes.set_ylim(-0.02 * count, 1.02 * count)
        axes.grid(color=COLORS["rule"], linewidth=0.8, clip_on=False)
        axes.set_axisbelow(True)
        ends = on_canvas(canvas, axes, 0, 0), on_canvas(canvas, axes, count - 1, count - 1)
        canvas.line(*zip(*ends, strict=True), color=COLORS["limit"], linewidth=1.2)
        style = SERIES["programs"].line() | {"linestyle": "", "markersize": 3.6 if variant.wide else 2.6}
        axes.plot(range(count), tickets, clip_on=False, **style)
        for program, row in enumerate(table):
            mark(canvas, axes, program, tickets[program], tuple(row))
        canvas.text(0, 14, "Ticket", color="muted")
        canvas.text(variant.width - 12, 14, "Line: all programs in order", ha="right")
        canvas.text(left, bottom + 39, "Program id", color="muted")
        return canvas

    equal = sum(pid == ticket for pid, ticket in enumerate(tickets))
    title = f"The ticket that each of {count} programs of one launch drew from a shared counter, against its program id."
    alt = (
        f"Scatter chart. Across: program id, 0 to {count - 1}. Up: the ticket it drew, the count of programs before it. "
        "A line marks where ticket and id are equal, as they would be if programs came in order. "
        f"{equal} programs lie on it; the farthest is {max(abs(ticket - pid) for pid, ticket in enumerate(tickets))} places off. "
        f"Program 0 drew ticket {tickets[0]}, program {count - 1} drew {tickets[-1]}."
    )
    return Chart(title, alt, ["program", "ticket", "ticket in the run before", "multiprocessor"], table, paint)


CHARTS = {
    "block_model_warps": (block_model_warps, ("block_model/warps",)),
    "block_model_order": (block_model_order, ("block_model/order",)),
}
