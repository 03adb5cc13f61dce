"""Charts of cross-entropy and the rotary embedding: each peer's time over Blockwise's, shape by shape."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

from scripts.drawing.data import TIMES, TIMINGS, Chart, Record, capital, choose, listed
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, LEGEND_ROW, SERIES, Canvas, Variant, legend_rows, on_canvas

PEERS = ("eager", "compile", "compile_max", "liger", "flash_triton", "flash_triton_ip")
STEP = 36
LANE = 5.5
Case = tuple[str, str, str]  # shape, direction, timing


class Rivals:
    """Each peer's time over Blockwise's median in the same case: above one, Blockwise is faster."""

    def __init__(self, record: Record, op: str, directions: dict[str, str]):
        self.directions = directions
        rows = [row for row in choose(record, op=op) if row["direction"] in directions]
        self.times = {(row["shape"], row["direction"], row["timing"], row["implementation"]): row["ms"] for row in rows}
        self.peers = [name for name in PEERS if any(name == implementation for *_, implementation in self.times)]
        self.blocks = {timing: list(dict.fromkeys(row["shape"] for row in rows if row["timing"] == timing)) for timing in TIMINGS}
        self.blocks = {timing: shapes for timing, shapes in self.blocks.items() if shapes}
        reach = [value for case in self.cases() for name in self.peers for value in self.ratio(case, name)]
        self.low, self.high = min(0.7, *reach) / 1.08, max(2, *reach) * 1.12

    def cases(self) -> list[Case]:
        """Every case with a time of ours, in the order of the table."""
        found = [
            (shape, direction, timing)
            for timing, shapes in self.blocks.items()
            for direction in self.directions
            for shape in shapes
        ]
        return [case for case in found if (*case, "blockwise") in self.times]

    def ratio(self, case: Case, name: str) -> list[float]:
        """At p20, p50 and p80; nothing where either has no time."""
        times, ours = self.times.get((*case, name)), self.times.get((*case, "blockwise"))
        return [time / ours[1] for time in times] if times and ours else []

    def losses(self, timing: str) -> str:
        """In how many cases of a timing some peer is faster, and the worst of them, in words."""
        cases = [case for case in self.cases() if case[2] == timing]
        best = [
            min((self.ratio(case, name)[1], SERIES[name].label) for name in self.peers if self.ratio(case, name))
            for case in cases
        ]
        behind = sorted((value, label, case) for (value, label), case in zip(best, cases, strict=True) if value < 1)
        words = f"{capital(TIMINGS[timing])}, some peer is faster in {len(behind)} of {len(cases)} cases"
        if behind:
            least, peer, (shape, direction, _) = behind[0]
            words += f", at most in {shape} {self.directions[direction]}, where {peer} is at {least:.2f}"
        return f"{words}."


def rivals_chart(op: str, title: str, directions: dict[str, str]) -> Callable[[Record], Chart]:
    def chart(record: Record) -> Chart:
        rivals = Rivals(record, op, directions)
        names = listed([SERIES[name].label for name in rivals.peers])

        def paint(variant: Variant) -> Canvas:
            items = [(SERIES[name]._replace(width=0), SERIES[name].label) for name in rivals.peers]
            legend = LEGEND_ROW * len(legend_rows(items, variant, 0))
            columns, left, gap = (2, 136, 26) if variant.wide else (1, 122, 0)
            width = (variant.width - left - gap * (columns - 1) - 8) / columns
            down = len(directions) // columns
            canvas = Canvas(variant, legend + down * sum(94 + STEP * len(shapes) for shapes in rivals.blocks.values()) - 4)
            canvas.legend(0, 14, items)
            top = float(legend) + 48
            for timing, direction in product(rivals.blocks, directions):
                place = list(directions).index(direction) % columns
                x, bottom = left + place * (width + gap), top + STEP * len(rivals.blocks[timing])
                cases = [(shape, direction, timing) for shape in rivals.blocks[timing]]
                lanes(canvas, rivals, (x, top, x + width, bottom), cases, place == 0)
                if place == columns - 1:
                    canvas.text(left, bottom + 37, "Time ÷ Blockwise's time", color="muted")
                    top = bottom + 94
            return canvas

        alt = (
            f"Dot plot, a line for each shape; {' left, '.join(directions.values())} right. "
            f"Across, on a logarithmic scale: the time of each peer ({names}) divided by Blockwise's. "
            "Right of the line at one Blockwise is faster; left of it, on a shaded ground, slower. "
            f"{' '.join(rivals.losses(timing) for timing in rivals.blocks)}"
        )
        columns = ["direction", "shape", "timing", "implementation", *TIMES]
        columns += [f"{quantile} / Blockwise's p50" for quantile in ("p20", "p50", "p80")]
        table = [
            [directions[case[1]], case[0], TIMINGS[case[2]], SERIES[name].label, *rivals.times[(*case, name)]]
            + [round(value, 4) for value in rivals.ratio(case, name)]
            for case in rivals.cases()
            for name in ("blockwise", *rivals.peers)
            if (*case, name) in rivals.times
        ]
        return Chart(
            f"Time of {title} in {names}, divided by the time of Blockwise in the same shape.", alt, columns, table, paint
        )

    return chart


def lanes(canvas: Canvas, rivals: Rivals, box: tuple[float, float, float, float], cases: list[Case], named: bool) -> None:
    """One line of dots for each case, of one direction and one timing."""
    _, direction, timing = cases[0]
    axes = canvas.ratio_axes(box, rivals.low, rivals.high)
    axes.set_ylim(len(cases), 0)
    middles = [place + 0.5 for place in range(len(cases))]
    axes.set_yticks(middles, [shape.replace("x", "×") for shape, *_ in cases] if named else [])
    axes.axvspan(rivals.low, 1, color=COLORS["panel"], linewidth=0, clip_on=False)
    for place in range(len(cases) + 1):
        axes.axhline(place, color=COLORS["rule"], linewidth=0.7, clip_on=False)
    axes.axvline(1, color=COLORS["ours"], linewidth=1.6, clip_on=False)
    for lane, name in enumerate(("blockwise", *rivals.peers)):  # each in a lane of its own, so none hides another
        rise = (lane - len(rivals.peers) / 2) * LANE / STEP
        found = [
            (middle + rise, values) for middle, case in zip(middles, cases, strict=True) if (values := rivals.ratio(case, name))
        ]
        whiskers = [value for _, (fast, _, slow) in found for value in (fast, slow, math.nan)]
        style: dict[str, Any] = {"color": COLORS[SERIES[name].color], "linewidth": 3 if name == "blockwise" else 1}
        axes.plot(whiskers, [y for y, _ in found for _ in range(3)], solid_capstyle="butt", clip_on=False, **style)
        if name != "blockwise":
            look = {**SERIES[name].line(), "linestyle": "", "markeredgecolor": COLORS["paper"], "markeredgewidth": 0.7}
            axes.plot([values[1] for _, values in found], [y for y, _ in found], clip_on=False, **look)
        for middle, case in zip(middles, cases, strict=True):
            if values := rivals.ratio(case, name):
                cells = (rivals.directions[direction], case[0], TIMINGS[timing], SERIES[name].label)
                mark(canvas, axes, values[1], middle + rise, cells)
    x = on_canvas(canvas, axes, 1, 0)[0]
    heading = f"{capital(rivals.directions[direction])}, {TIMINGS[timing]}"
    canvas.text(box[0] if canvas.variant.wide else 0, box[1] - 28, heading, fontweight="bold")
    canvas.text(x - 5, box[1] - 7, "← slower", color="muted", ha="right")
    canvas.text(x + 5, box[1] - 7, "Blockwise faster →", color="muted")


LOSS = {"fwd": "loss", "fwdbwd": "loss and gradient"}
TURN = {"fwd": "forward", "bwd": "backward"}
CHARTS = {
    "cross_entropy_shapes": (rivals_chart("cross_entropy", "cross-entropy", LOSS), ("cross_entropy/benchmark",)),
    "rope_shapes": (rivals_chart("rope", "the rotary embedding", TURN), ("rope/benchmark",)),
}
