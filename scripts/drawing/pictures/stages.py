"""Loads and arithmetic by `num_stages`: what the compiled loop lets happen at once. Order, and no durations."""

from scripts.drawing.data import Record
from scripts.drawing.pictures.sheet import Picture, Sheet
from scripts.drawing.style import Variant
from scripts.layouts import pipeline

STEPS, LINE, HEAD = 5, 17.0, 30.0
Panels = dict[int, list[pipeline.Step]]


def stages_timeline(*found: Record) -> Picture:
    panels = {stages(record): pipeline.ordered("\n".join(record["ttgir"]), STEPS) for record in found}
    rows = [
        [n, i, step.asked, step.there, step.begins, step.ends, step.buffer, beside(panels[n], i)]
        for n, steps in panels.items()
        for i, step in enumerate(steps)
    ]
    title = "What each num_stages lets happen at once in a product's loop."
    caption = (
        f"{title} Read from staged_matmul_kernel, as Triton {found[0]['environment']['triton']} compiles it for an H100 or H200. "
        "A column is an operation's turn, so this is an order and says nothing of how long anything takes."
    )
    told = [f"with {n}, {most} {'pair' if most == 1 else 'pairs'}" for n, most in most_beside(panels).items()]
    alt = (
        "For each number of stages, a line for each step along K: when its pair of tiles is asked for, when it is waited for, "
        f"and when it is multiplied. On their way beside a product are at most: {'; '.join(told)}."
    )
    columns = ["stages", "step", "asked for", "there", "product begins", "product done", "buffer", "pairs on their way meanwhile"]
    return Picture(title, caption, alt, columns, rows, lambda size: painted(size, panels))


def stages(record: Record) -> int:
    return int(record["launch"]["options"]["num_stages"])


def beside(steps: list[pipeline.Step], chosen: int) -> int:
    """How many other pairs are on their way at some turn of a step's product."""
    product = steps[chosen]
    return max(
        sum(other.asked <= turn < other.there for place, other in enumerate(steps) if place != chosen)
        for turn in range(product.begins, product.ends)
    )


def most_beside(panels: Panels) -> dict[int, int]:
    return {n: max(beside(steps, i) for i in range(len(steps))) for n, steps in panels.items()}


def painted(size: Variant, panels: Panels) -> Sheet:
    across = 2 if size.wide else 1
    wide, tall = (size.width - 32 * (across - 1)) / across, HEAD + STEPS * LINE + 16
    rows = -(-len(panels) // across)
    sheet = Sheet(size, rows * tall + 26)
    turn = (wide - 48) / max(step.ends for steps in panels.values() for step in steps)
    for place, (n, steps) in enumerate(panels.items()):
        down, right = divmod(place, across)
        panel(sheet, right * (wide + 32), down * tall, n, steps, turn)
    key(sheet, rows * tall + 14)
    return sheet


def panel(sheet: Sheet, left: float, top: float, n: int, steps: list[pipeline.Step], turn: float) -> None:
    sheet.code(left, top + 16, f"num_stages={n}", font_weight="bold")
    most = max(beside(steps, i) for i in range(len(steps)))
    sheet.text(left + 126, top + 16, f"beside a product: {most} {'pair' if most == 1 else 'pairs'}", "muted")
    start = left + 48

    def bar(line: int, first: int, last: int) -> tuple[float, float, float, float]:
        return start + (first - 1) * turn, top + HEAD + line * LINE, (last - first) * turn, LINE - 5

    for i in range(len(steps)):
        sheet.text(left, top + HEAD + i * LINE + 11, f"step {i}", "muted")
    rule = "".join(f"M{start:g} {top + HEAD + i * LINE + 6:g}H{start + (steps[-1].ends - 1) * turn:g}" for i in range(len(steps)))
    sheet.path(rule, "none", "rule")
    sheet.boxes([bar(i, step.asked, step.there) for i, step in enumerate(steps)], "paper", "memory", 1.4)
    sheet.boxes([bar(i, step.there, step.begins) for i, step in enumerate(steps)], "memory", "memory", 1.4)
    sheet.boxes([bar(i, step.begins, step.ends) for i, step in enumerate(steps)], "ours", "ours", 1.4)


def key(sheet: Sheet, y: float) -> None:
    gap = 190 if sheet.variant.wide else 122
    for place, (words, fill, stroke) in enumerate(
        [("on their way", "paper", "memory"), ("there", "memory", "memory"), ("multiplied", "ours", "ours")]
    ):
        x = 2 + place * gap
        sheet.boxes([(x, y - 10, 22, 11)], fill, stroke, 1.4)
        sheet.text(x + 29, y, words)


PICTURES = {
    "stages_timeline": (stages_timeline, tuple(f"layouts/staged_matmul_kernel/stages_{n}" for n in (1, 2, 3, 4))),
}
