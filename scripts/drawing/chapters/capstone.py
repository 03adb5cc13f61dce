"""The chart of the capstone's small library: each rival's time over the library's, kernel by kernel and shape by shape."""

from collections.abc import Sequence
from typing import NamedTuple

from scripts.drawing.chapters.products import spelled
from scripts.drawing.data import Chart, Record, capital, listed
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Variant, legend_rows, on_canvas, text_width

KERNELS = {"softmax": "softmax", "layer_norm": "layer norm", "rms_norm": "RMS norm", "dropout": "dropout"}
DIRECTIONS = {"fwd": "forward", "bwd": "backward"}
RIVALS = ("eager", "compile")
STEP, LANE, HEAD, GAP = 22, 9, 24, 12
FINE = (0.5, 0.7, 1, 1.5, 2, 3, 4)


class Case(NamedTuple):
    """One rival in one shape."""

    shape: str
    rival: str
    ms: float
    ours: float

    @property
    def ratio(self) -> float:
        """Above one, the library is faster."""
        return round(self.ms / self.ours, 4)


class Panel(NamedTuple):
    """A kernel in one direction."""

    kernel: str
    direction: str
    shapes: list[str]
    cases: list[Case]

    @property
    def words(self) -> str:
        found = {rival: [case.ratio for case in self.cases if case.rival == rival] for rival in RIVALS}
        each = (f"{SERIES[rival].label} {span(some)}" for rival, some in found.items() if some)
        return f"{capital(self.kernel)} {self.direction}: {', '.join(each)}."


def span(ratios: Sequence[float]) -> str:
    ends = dict.fromkeys(f"{end:.2f}" for end in (min(ratios), max(ratios)))
    return " to ".join(ends)


def panel_of(figures: Record, op: str, direction: str) -> Panel:
    took = {shape: ways[direction] for shape, ways in figures[op].items()}
    cases = [Case(shape, rival, ms[rival], ms["ours"]) for shape, ms in took.items() for rival in RIVALS if rival in ms]
    return Panel(KERNELS[op], DIRECTIONS[direction], list(took), cases)


def capstone_library(record: Record) -> Chart:
    sides = [[panel_of(record["figures"], op, direction) for op in KERNELS] for direction in DIRECTIONS]
    panels = [panel for side in sides for panel in side]
    cases = [case for panel in panels for case in panel.cases]
    rivals = [rival for rival in RIVALS if any(case.rival == rival for case in cases)]
    reach = min(0.7, *(case.ratio for case in cases)) / 1.08, max(2, *(case.ratio for case in cases)) * 1.12

    def paint(variant: Variant) -> Canvas:
        items = [(SERIES[rival]._replace(width=0), SERIES[rival].label) for rival in rivals]
        legend = LEGEND_ROW * len(legend_rows(items, variant, 0))
        left = 12 + max(text_width(spelled(shape), variant.text) for panel in panels for shape in panel.shapes)
        columns, gap = (2, 26) if variant.wide else (1, 0)
        width = (variant.width - left - gap * (columns - 1) - 8) / columns
        deep = [28 + sum(HEAD + STEP * len(panel.shapes) + GAP for panel in side) + 50 for side in sides]
        canvas = Canvas(variant, legend + (max(deep) if variant.wide else sum(deep)) - 8)
        canvas.legend(0, 14, items)
        for place, side in enumerate(sides):
            x = left + place % columns * (width + gap)
            y = legend + 28 + (0 if variant.wide else sum(deep[:place]))
            for panel in side:
                bottom = y + HEAD + STEP * len(panel.shapes)
                canvas.text(x if variant.wide else 0, y + 14, capital(f"{panel.kernel}, {panel.direction}"), fontweight="bold")
                draw(canvas, panel, (x, y + HEAD, x + width, bottom), reach, (x == left, panel == side[-1], panel == side[0]))
                y = bottom + GAP
            canvas.text(x, y + 26, "Time ÷ this library's time", color="muted")
        return canvas

    names = listed([SERIES[rival].label for rival in rivals])
    title = f"Time of the small library's four kernels in {names}, divided by the time of the library in the same shape."
    alt = (
        "Dot plot, a part for each kernel and direction, a line for each shape. Across, on a logarithmic scale: the time of "
        f"each rival ({names}) divided by the library's, replayed from CUDA graphs, in bfloat16. Right of the line at one the "
        f"library is faster; left of it, on a shaded ground, slower. {' '.join(panel.words for panel in panels)}"
    )
    columns = ["kernel", "direction", "rows × columns", "rival", "rival, p50 (ms)", "library, p50 (ms)", "rival ÷ library"]
    table = [
        [panel.kernel, panel.direction, spelled(case.shape), SERIES[case.rival].label, case.ms, case.ours, case.ratio]
        for panel in panels
        for case in panel.cases
    ]
    return Chart(title, alt, columns, table, paint)


def draw(
    canvas: Canvas, panel: Panel, box: tuple[float, float, float, float], reach: tuple[float, float],
    told: tuple[bool, bool, bool],
) -> None:  # fmt: skip
    """One line for each shape; `told`: whether the shapes are named, the scale has numbers, and the sides are named."""
    shapes_named, numbered, sides_named = told
    axes = canvas.ratio_axes(box, *reach)
    axes.set_ylim(len(panel.shapes), 0)
    middles = {shape: place + 0.5 for place, shape in enumerate(panel.shapes)}
    axes.set_yticks(list(middles.values()), [spelled(shape) for shape in middles] if shapes_named else [])
    if reach[1] < 8 * reach[0]:
        ticks = [tick for tick in FINE if reach[0] <= tick <= reach[1]]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    if not numbered:
        axes.set_xticklabels([])
    axes.axvspan(reach[0], 1, color=COLORS["panel"], linewidth=0, clip_on=False)
    for place in range(len(panel.shapes) + 1):
        axes.axhline(place, color=COLORS["rule"], linewidth=0.7, clip_on=False)
    axes.axvline(1, color=COLORS["ours"], linewidth=1.6, clip_on=False)
    for lane, rival in enumerate(RIVALS):  # each in a lane of its own, so none hides another
        rise = (lane - (len(RIVALS) - 1) / 2) * LANE / STEP
        found = [(case, middles[case.shape] + rise) for case in panel.cases if case.rival == rival]
        look = {**SERIES[rival].line(), "linestyle": "", "markeredgecolor": COLORS["paper"], "markeredgewidth": 0.7}
        axes.plot([case.ratio for case, _ in found], [y for _, y in found], clip_on=False, **look)
        for case, y in found:
            cells = (panel.kernel, panel.direction, spelled(case.shape), SERIES[rival].label)
            mark(canvas, axes, case.ratio, y, cells)
    if sides_named:
        x = on_canvas(canvas, axes, 1, 0)[0]
        canvas.text(x - 5, box[1] - HEAD - 10, "← slower", color="muted", ha="right")
        canvas.text(x + 5, box[1] - HEAD - 10, "this library faster →", color="muted")


CHARTS = {"capstone_library": (capstone_library, ("capstone/benchmark",))}
