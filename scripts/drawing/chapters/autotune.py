"""The chart of *Autotune*: what one tuner saw in many searches, which configuration won, and how fast each is."""

from typing import Any

from scripts.drawing.data import Chart, Record
from scripts.drawing.spots import mark
from scripts.drawing.style import COLORS, Canvas, Variant, on_canvas, text_width

COLUMNS = ["configuration", "wins", "time in turns (µs)", "least time seen (µs)", "largest time seen (µs)"]
LANE, HEAD = 30, 30


def label_of(row: Record) -> str:
    tile = "×".join(str(row[size]) for size in ("block_m", "block_n", "block_k"))
    return f"{tile}, {row['num_warps']} warps, {row['num_stages']} stages"


def autotune_repeat(record: Record) -> Chart:
    figures = record["figures"]
    rows = sorted(figures["rows"], key=lambda row: row["us"])
    names = ("us", "said_low_us", "said_high_us")
    found = [(label_of(row), row["wins"], *(round(row[name], 1) for name in names)) for row in rows]
    top = max(max(row[2:]) for row in found)

    def paint(variant: Variant) -> Canvas:
        canvas = Canvas(variant, HEAD + LANE * len(found) * (1 if variant.wide else 1.5) + 34)
        left = 14 + max(text_width(row[0], variant.text) for row in found) if variant.wide else 0
        lane = LANE * (1 if variant.wide else 1.5)
        bottom = HEAD + lane * len(found)
        axes = canvas.axes(left, HEAD, variant.width - 66, bottom)
        axes.set_xlim(0, top)
        axes.set_ylim(len(found) - 0.5, -0.5)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.axvline(0, color=COLORS["muted"], linewidth=1, clip_on=False)
        canvas.text(variant.width, 18, "wins", color="muted", ha="right")
        canvas.text(left, 18, "µs", color="muted")
        for place, (label, wins, us, low, high) in enumerate(found):
            color = COLORS["ours" if wins else "peer-1"]
            shift = 0 if variant.wide else 0.22
            axes.barh([place + shift], [us], height=0.36, color=color, zorder=1.8, clip_on=False)
            axes.plot([low, high], [place + shift] * 2, color=COLORS["ink"], linewidth=1.6, clip_on=False)
            y = on_canvas(canvas, axes, 0, place + shift)[1]
            canvas.text(0, y + 4.5 if variant.wide else y - 13, label)
            mark(canvas, axes, us, place + shift, (label, wins, us, low, high), (0, place + shift))
            canvas.text(variant.width - 22 if variant.wide else variant.width, y + 4.5, f"{wins}", fontweight="bold", ha="right")
        canvas.text(0, bottom + 24, "bar: timed in turns; line: what the tuner saw", color="muted")
        return canvas

    title = f"One search made {figures['searches']} times: the time of each configuration, and how often it won."
    said = "; ".join(
        f"{label}: {us:,.1f} µs, seen {low:,.1f} to {high:,.1f}, {wins} wins" for label, wins, us, low, high in found
    )
    alt = f"Bar chart, a bar for each configuration. Across: time from zero, in microseconds. {said}."
    table: list[list[Any]] = [list(row) for row in found]
    return Chart(title, alt, COLUMNS, table, paint)


CHARTS = {"autotune_repeat": (autotune_repeat, ("autotune/repeat",))}
