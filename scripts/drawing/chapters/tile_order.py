"""The chart of *L2 and the order of tiles*: rate and bytes read from memory against the height of a group."""

from typing import Any, NamedTuple

from matplotlib.axes import Axes

from scripts.drawing.data import TIMES, Chart, Record, choose, listed
from scripts.drawing.names import Names, at_ends
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, Canvas, Series, Variant

GROUPS = (1, 2, 4, 8, 16, 32)
LOOKS = (
    Series("", "peer-1", "s", dashes=(6, 2.5)),
    Series("", "peer-2", "^", dashes=(1.2, 1.8)),
    Series("", "ours", "o", width=2.4),
    Series("", "peer-3", "D", dashes=(9, 2, 1.5, 2)),
)
WATCHED = ("8192x8192x8192", "16384x16384x4096")  # the profiler watches these, in this order


class Shape(NamedTuple):
    """One shape's calls by GROUP_M, the library's, and the bytes that were counted, where they were."""

    shape: str
    rows: list[Record]
    library: Record
    read: list[int]
    series: Series

    @property
    def rates(self) -> list[float]:
        return [rate_of(row) for row in self.rows]

    @property
    def megabytes(self) -> list[float]:
        return [round(count / 1e6, 1) for count in self.read]


def rate_of(row: Record) -> float:
    return round(row["flops"] / row["ms"][1] / 1e9, 1)


def shapes_of(record: Record) -> list[Shape]:
    called = choose(record, op="tile_order", timing="call")
    counted = {group: [row for row in record["counters"] if row["implementation"] == f"group_{group}"] for group in GROUPS}
    found = []
    for shape, look in zip(dict.fromkeys(row["shape"] for row in called), LOOKS, strict=True):
        rows = {row["implementation"]: row for row in called if row["shape"] == shape}
        place = WATCHED.index(shape) if shape in WATCHED else None
        read = [] if place is None else [counted[group][place]["dram_read_bytes"] for group in GROUPS]
        series = look._replace(label=shape.replace("x", " × "))
        found.append(Shape(shape, [rows[f"group_{group}"] for group in GROUPS], rows["eager"], read, series))
    return found


def tile_order(record: Record) -> Chart:
    shapes = shapes_of(record)
    watched = [shape for shape in shapes if shape.read]

    def paint(variant: Variant) -> Canvas:
        left, height = (56, 190) if variant.wide else (48, 160)
        items = [(shape.series, shape.series.label) for shape in shapes]
        names = Names(variant, items, least=14)
        canvas = Canvas(variant, 2 * height + 156 + names.legend)
        right, second = variant.width - names.margin, 100 + height
        upper = panel(canvas, (left, 34, right, 34 + height), [shape.rates for shape in shapes], 7)
        lower = panel(canvas, (left, second, right, second + height), [shape.megabytes for shape in watched], 6)
        for shape in shapes:
            upper.plot(range(6), shape.rates, clip_on=False, **shape.series.line())
            upper.plot([6], [rate_of(shape.library)], clip_on=False, **{**shape.series.line(), "linestyle": ""})
            point_at(canvas, upper, lower, shape)
            if shape.read:
                lower.plot(range(6), shape.megabytes, clip_on=False, **shape.series.line())
        canvas.text(0, 16, "Rate, TFLOP/s", fontweight="bold")
        canvas.text(0, second - 18, "Read from memory, MB, counted", fontweight="bold")
        bottom = second + height
        canvas.text(left, bottom + 36, "GROUP_M", color="muted")
        names.write(canvas, upper, [(6, rate_of(shape.library)) for shape in shapes], bottom + 62)
        if names.direct:
            at_ends(canvas, lower, [(s.series, s.series.label) for s in watched], [(5, s.megabytes[-1]) for s in watched])
        return canvas

    title = "Rate of one matrix product in bfloat16 against GROUP_M, and the bytes that it reads from memory."
    said = [
        f"{shape.series.label}: "
        + listed([f"{rate:,.0f} TFLOP/s at {group}" for group, rate in zip(GROUPS, shape.rates, strict=True)])
        + f", cuBLAS {rate_of(shape.library):,.0f}."
        for shape in shapes
    ]
    counted = [
        f"Read from memory at {shape.series.label}: "
        + listed([f"{found:,.0f} MB at {group}" for group, found in zip(GROUPS, shape.megabytes, strict=True)])
        + "."
        for shape in watched
    ]
    alt = "Two line charts over GROUP_M from 1 to 32. "
    alt += f"Above, the rate from zero. {' '.join(said)} Below, bytes. {' '.join(counted)}"
    table: list[list[Any]] = []
    for shape in shapes:
        read: list[float | None] = [*shape.megabytes] or [None] * 6
        table += [
            [shape.shape, group, *row["ms"], rate_of(row), count]
            for group, row, count in zip(GROUPS, shape.rows, read, strict=True)
        ]
        table.append([shape.shape, "cuBLAS", *shape.library["ms"], rate_of(shape.library), None])
    return Chart(title, alt, ["shape", "GROUP_M", *TIMES, "rate (TFLOP/s)", "read from memory (MB)"], table, paint)


def point_at(canvas: Canvas, upper: Axes, lower: Axes, shape: Shape) -> None:
    """Where each row of the table stands: once in a panel."""
    for place, (group, row) in enumerate(zip(GROUPS, shape.rows, strict=True)):
        cells = (shape.shape, group, *row["ms"])
        mark(canvas, upper, place, shape.rates[place], cells)
        if shape.read:
            mark(canvas, lower, place, shape.megabytes[place], cells)
    mark(canvas, upper, 6, rate_of(shape.library), (shape.shape, "cuBLAS", *shape.library["ms"]))


def panel(canvas: Canvas, box: tuple[float, float, float, float], values: list[list[float]], places: int) -> Axes:
    """Axes from zero to the largest value, with a place for each GROUP_M and, where there are seven, one for the library."""
    axes = canvas.axes(*box)
    top = max(value for line in values for value in line)
    step = 10 ** (len(str(int(top))) - 1)
    step = step if top / step > 3 else step // 2
    axes.set_xlim(-0.3, 6.3)
    axes.set_ylim(0, 1.06 * top)
    names = [str(group) for group in GROUPS] + ["cuBLAS"] * (places - 6)
    axes.set_xticks(range(places), names)
    ticks = list(range(0, int(top) + 1, max(step, 1)))
    axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.grid(axis="y", color=COLORS["rule"], linewidth=0.8, clip_on=False)
    return axes


CHARTS = {"tile_order": (tile_order, ("tile_order/groups",))}
