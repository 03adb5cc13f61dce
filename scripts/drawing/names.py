"""The names of a chart's lines: each at its line's end where there is room right of the plot, else in a legend below."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from scripts.drawing.style import COLORS, LEGEND_ROW, Canvas, Series, Variant, legend_rows, on_canvas, spread, text_width

Items = Sequence[tuple[Series, str]]
SHARE = 0.365  # of the width may go to names
ROW = 18


class Names:
    def __init__(self, variant: Variant, items: Items, least: float = 8, edge: float = 0):
        """`least` is the margin right of the plot without names, `edge` the left edge of a legend."""
        self.items, self.edge = items, edge
        width = 34 + max(text_width(label, variant.text) for _, label in items)
        self.direct = width <= SHARE * variant.width
        self.margin = max(least, width) if self.direct else least
        self.legend = 0 if self.direct else LEGEND_ROW * len(legend_rows(items, variant, edge))

    def write(self, canvas: Canvas, axes: Axes, ends: Sequence[tuple[float, float]], y: float) -> None:
        """At the lines' ends, which are given in the units of the axes, or in a legend whose first baseline is y."""
        if self.direct:
            at_ends(canvas, axes, self.items, ends)
        else:
            canvas.legend(self.edge, y, self.items)


def at_ends(canvas: Canvas, axes: Axes, items: Items, ends: Sequence[tuple[float, float]]) -> None:
    """Each name as near its line's last point as fits; a thin line joins those that reach the plot's edge."""
    edge, bottom = on_canvas(canvas, axes, axes.get_xlim()[1], axes.get_ylim()[0])
    top = on_canvas(canvas, axes, axes.get_xlim()[1], axes.get_ylim()[1])[1]
    last = max(x for x, _ in ends)
    places = [on_canvas(canvas, axes, *end) for end in ends]
    heights = spread([y for _, y in places], ROW, top + 4, bottom)
    for (series, label), end, place, y in zip(items, ends, places, heights, strict=True):
        if end[0] == last:
            canvas.line([min(place[0] + 5, edge + 6), edge + 16], [place[1], y], color=COLORS[series.color], linewidth=0.8)
        canvas.line([edge + 21], [y], **{**series.line(), "linestyle": ""})
        weight = "bold" if series.color == "ours" and series.width > 2 else "normal"
        canvas.text(edge + 29, y + 4.5, label, color=series.color, fontweight=weight)
