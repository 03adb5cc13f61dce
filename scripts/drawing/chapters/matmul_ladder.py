"""The chart of *Matmul, the ladder*: every step's rate of arithmetic beside cuBLAS, a part for each shape."""

from typing import Any, NamedTuple

from scripts.drawing.data import TIMES, Chart, Rates, Record, choose
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, Canvas, Variant, on_canvas, text_width

PEER = "eager"
STEPS = {
    "naive": "1. one element per program",
    "tiles": "2. tiles",
    "cores": "3. tensor cores",
    "grouped": "4. grouped order",
    "stages": "5. three stages",
    "wide": "5. and a wider tile",
    "descriptors": "6. descriptors",
    "persistent": "7. persistent",
    "specialized": "8. specialized warps",
    "whole": "tiles, sums whole",
    "split": "9. sums in 8 parts",
    "eager": "cuBLAS",
}
RATES = ["rate at p80 (TFLOP/s)", "rate at p50 (TFLOP/s)", "rate at p20 (TFLOP/s)"]
LANE, HEAD, GAP = 24, 34, 14


class Part(NamedTuple):
    """One shape in one dtype, with the steps that were timed on it."""

    dtype: str
    shape: str
    rows: list[Record]

    @property
    def heading(self) -> str:
        kind = {"fp32": "float32", "bf16": "bfloat16"}[self.dtype]
        return f"{' × '.join(f'{int(side):,}' for side in self.shape.split('x'))}, {kind}"

    @property
    def words(self) -> str:
        said = ", ".join(f"{STEPS[row['implementation']]} {tflops(row)[1]:,.1f} TFLOP/s" for row in self.rows)
        return f"{self.heading}: {said}."


def tflops(row: Record) -> Rates:
    """TFLOP/s at the slow, the middle and the fast quantile."""
    slow, middle, fast = (round(row["flops"] / ms / 1e9, 1) for ms in reversed(row["ms"]))
    return slow, middle, fast


def parts_of(record: Record) -> list[Part]:
    """The shapes in the order in which they were timed; a step that failed on one has no row there."""
    found: dict[tuple[str, str], list[Record]] = {}
    for row in choose(record, timing="call"):
        found.setdefault((row["dtype"], row["shape"]), []).append(row)
    order = list(STEPS)
    return [Part(*key, sorted(rows, key=lambda row: order.index(row["implementation"]))) for key, rows in found.items()]


def matmul_ladder(record: Record) -> Chart:
    parts = parts_of(record)

    def paint(variant: Variant) -> Canvas:
        canvas = Canvas(variant, sum(HEAD + LANE * len(part.rows) + GAP for part in parts))
        left = 14 + max(text_width(STEPS[row["implementation"]], variant.text) for part in parts for row in part.rows)
        y = 0.0
        canvas.text(variant.width, 20, "TFLOP/s", color="muted", ha="right")
        for part in parts:
            canvas.text(0, y + 20, part.heading, fontweight="bold")
            draw(canvas, part, (left, y + HEAD, variant.width - 52, y + HEAD + LANE * len(part.rows)))
            y += HEAD + LANE * len(part.rows) + GAP
        return canvas

    title = "Rate of each step's matrix product in TFLOP/s, beside cuBLAS in the same run."
    alt = (
        f"Bar chart in {len(parts)} parts, one for each shape, a bar for each step. Across: TFLOP/s from zero to the "
        f"fastest of the part, called from Python. {' '.join(part.words for part in parts)}"
    )
    table: list[list[Any]] = []
    for part in parts:
        for row in part.rows:
            table.append([STEPS[row["implementation"]], part.shape, part.dtype, *row["ms"], *tflops(row)])
    return Chart(title, alt, ["step", "shape", "dtype", *TIMES, *RATES], table, paint)


def draw(canvas: Canvas, part: Part, box: tuple[float, float, float, float]) -> None:
    axes = canvas.axes(*box)
    axes.set_xlim(0, max(tflops(row)[2] for row in part.rows))
    axes.set_ylim(len(part.rows) - 0.5, -0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.axvline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    for place, row in enumerate(part.rows):
        slow, middle, fast = tflops(row)
        color = COLORS["peer-1" if row["implementation"] == PEER else "ours"]
        axes.barh([place], [middle], height=0.56, color=color, zorder=1.8, clip_on=False)
        axes.plot([slow, fast], [place] * 2, color=COLORS["ink"], linewidth=1.2, clip_on=False)
        y = on_canvas(canvas, axes, 0, place)[1]
        canvas.text(0, y + 4.5, STEPS[row["implementation"]])
        number = f"{middle:,.0f}" if middle >= 100 else f"{middle:,.1f}"
        canvas.text(canvas.variant.width, y + 4.5, number, fontweight="bold", ha="right")
        mark(canvas, axes, middle, place, (STEPS[row["implementation"]], part.shape, part.dtype, *row["ms"]), (0, place))


CHARTS = {"matmul_ladder": (matmul_ladder, ("matmul_ladder/benchmark",))}
