"""The chart of *Fused softmax, the ladder*: every step's bandwidth beside what came before it."""

from typing import Any, NamedTuple

from scripts.drawing.data import RATES, TIMES, Chart, Record, choose, numbers, rates
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, Canvas, Variant, on_canvas, text_width

LIMIT = "device copy (the limit drawn)"
# Of each program: the step's name, and what is drawn of it, in order. The step's own kernels are drawn in our color.
STEPS: dict[str, tuple[str, dict[str, str]]] = {
    "one_row": ("One row per program", {"unfused": "five kernels", "eager": "torch.softmax", "row": "one row"}),
    "several_rows": (
        "Several rows per program",
        {"eager": "torch.softmax", "rows_1": "1 row", "rows_4": "4 rows", "rows_16": "16 rows", "rows_32": "32 rows"},
    ),
    "persistent": (
        "Persistent programs",
        {
            "row": "one row",
            "ahead_0": "persistent",
            "ahead_1": "1 row ahead",
            "ahead_2": "2 rows ahead",
            "blockwise": "library",
        },
    ),
    "online": (
        "Rows too long for the chip",
        {"eager": "torch.softmax", "row": "one row", "three_walks": "three walks", "online": "online", "blockwise": "library"},
    ),
    "split": ("A row split over programs", {"eager": "torch.softmax", "long": "one program", "split": "split"}),
}
PEERS = ("unfused", "eager")
LANE, HEAD, GAP = 24, 34, 14


class Step(NamedTuple):
    """One program's cases: its name, its matrix, and each implementation's label and row."""

    name: str
    shape: str
    rows: list[tuple[str, Record]]
    copy: Record

    @property
    def heading(self) -> str:
        rows, columns = (int(side) for side in self.shape.split("x"))
        return f"{rows:,} rows of {columns:,}"

    @property
    def words(self) -> str:
        said = ", ".join(f"{label} {rates(row)[1]:,.0f} GB/s" for label, row in self.rows)
        return f"{self.name}, {self.heading}: {said}; a copy {rates(self.copy)[1]:,.0f} GB/s."


def step_of(name: str, record: Record) -> Step:
    """A program's last shape; those before it are the text's."""
    title, labels = STEPS[name]
    measured = choose(record, timing="call")
    shape = measured[-1]["shape"]
    rows = {row["implementation"]: row for row in measured if row["shape"] == shape}
    found = [(label, rows[implementation]) for implementation, label in labels.items()]
    return Step(title, shape, found, record["ceilings"]["copy"])


def softmax_ladder(*sources: Record) -> Chart:
    steps = [step_of(name, record) for name, record in zip(STEPS, sources, strict=True)]
    top = max([rates(step.copy)[1] for step in steps] + [rates(row)[2] for step in steps for _, row in step.rows])

    def paint(variant: Variant) -> Canvas:
        height = sum(HEAD + LANE * len(step.rows) + GAP for step in steps) + 40
        canvas = Canvas(variant, height)
        left = 14 + max(text_width(label, variant.text) for step in steps for label, _ in step.rows)
        y = 0.0
        for step in steps:
            canvas.text(0, y + 20, step.name, fontweight="bold")
            canvas.text(variant.width, y + 20, step.heading, color="muted", ha="right")
            draw(canvas, step, (left, y + HEAD, variant.width - 46, y + HEAD + LANE * len(step.rows)), top)
            y += HEAD + LANE * len(step.rows) + GAP
        canvas.line([0, 18], [y + 13.5] * 2, color=COLORS["limit"], linewidth=1.4)
        canvas.text(24, y + 18, "a copy of the same run, the limit; numbers: GB/s")
        return canvas

    title = "Memory bandwidth of each step's softmax kernels in bfloat16, beside the step before and a plain copy."
    alt = (
        "Bar chart in five parts, one for each step, a bar for each kernel. Across: memory bandwidth from zero in GB/s, "
        f"called from Python. {' '.join(step.words for step in steps)}"
    )
    table: list[list[Any]] = []
    for step in steps:
        table += [[step.name, step.shape, label, *numbers(row)] for label, row in step.rows]
        table.append([step.name, None, LIMIT, *numbers(step.copy)])
    return Chart(title, alt, ["step", "shape", "kernel", *TIMES, *RATES], table, paint)


def draw(canvas: Canvas, step: Step, box: tuple[float, float, float, float], top: float) -> None:
    axes = canvas.axes(*box)
    axes.set_xlim(0, top)
    axes.set_ylim(len(step.rows) - 0.5, -0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.axvline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
    for place, (label, row) in enumerate(step.rows):
        slow, middle, fast = (round(rate, 1) for rate in rates(row))
        color = COLORS["peer-1" if row["implementation"] in PEERS else "ours"]
        axes.barh([place], [middle], height=0.56, color=color, zorder=1.8, clip_on=False)
        axes.plot([slow, fast], [place] * 2, color=COLORS["ink"], linewidth=1.2, clip_on=False)
        y = on_canvas(canvas, axes, 0, place)[1]
        canvas.text(0, y + 4.5, label)
        canvas.text(canvas.variant.width, y + 4.5, f"{middle:,.0f}", fontweight="bold", ha="right")
        mark(canvas, axes, middle, place, (step.name, step.shape, label, *numbers(row)), (0, place))
    axes.axvline(rates(step.copy)[1], color=COLORS["limit"], linewidth=1.4, clip_on=False)


CHARTS = {"softmax_ladder": (softmax_ladder, tuple(f"softmax_ladder/{name}" for name in STEPS))}
