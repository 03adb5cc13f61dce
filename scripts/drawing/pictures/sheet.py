"""What every picture shares: what a page says of it, and a sheet of SVG in CSS pixels that follows both palettes."""

from collections.abc import Callable, Iterable
from html import escape
from typing import Any, NamedTuple

from scripts.drawing.style import COLORS as CHART_COLORS
from scripts.drawing.style import Variant

# The page's light palette, for a file that is read alone.
COLORS = CHART_COLORS | {"chip": "#0c7a5a", "masked": "#8c8375", "oob": "#8a1462"}
Box = tuple[float, float, float, float]


class Picture(NamedTuple):
    """What a page says about a picture, the table of what it shows (or no rows), and how to draw it at either width."""

    title: str
    caption: str
    alt: str
    columns: list[str]
    rows: list[list[Any]]
    paint: Callable[[Variant], "Sheet"]


def color(name: str) -> str:
    return name if name == "none" else f"var(--bw-{name}, {COLORS[name]})"


class Sheet:
    """Shapes on a sheet, in the order in which they are drawn; a part of it may be lit by a class."""

    def __init__(self, variant: Variant, height: float):
        self.variant, self.width, self.height = variant, variant.width, height
        self.shapes: list[str] = []

    def boxes(self, boxes: Iterable[Box], fill: str = "none", stroke: str = "none", line: float = 1, **more: Any) -> None:
        """Rectangles of one look, as one path."""
        path = "".join(f"M{x:.6g} {y:.6g}h{w:.6g}v{h:.6g}h{-w:.6g}z" for x, y, w, h in boxes)
        self.path(path, fill, stroke, line, **more)

    def path(self, path: str, fill: str = "none", stroke: str = "ink", line: float = 1, **more: Any) -> None:
        """`more` are attributes of SVG, with a line for a hyphen: `fill_opacity=0.2`, `stroke_dasharray="4 3"`."""
        if path:
            edge = "" if stroke == "none" else f' stroke="{color(stroke)}" stroke-width="{line:g}"'
            self.shapes.append(f'<path d="{path}" fill="{color(fill)}"{edge}{attributes(more)}/>')

    def arrow(self, x: float, y: float, to_x: float, to_y: float, stroke: str = "muted", line: float = 1.2) -> None:
        """A straight line, across or up and down, with a head at its end."""
        back = (4 if to_x > x else -4) if y == to_y else 0
        down = (4 if to_y > y else -4) if x == to_x else 0
        head = f"M{to_x - back - down:g} {to_y - down - back:g}L{to_x:g} {to_y:g}L{to_x - back + down:g} {to_y - down + back:g}"
        self.path(f"M{x:g} {y:g}L{to_x:g} {to_y:g}{head}", "none", stroke, line)

    def text(self, x: float, y: float, words: str, fill: str = "ink", anchor: str = "start", **more: Any) -> None:
        place = "" if anchor == "start" else f' text-anchor="{anchor}"'
        paint = "" if fill == "ink" else f' fill="{color(fill)}"'
        self.shapes.append(f'<text x="{x:.6g}" y="{y:.6g}"{place}{paint}{attributes(more)}>{escape(words, quote=False)}</text>')

    def code(self, x: float, y: float, words: str, fill: str = "ink", anchor: str = "start", **more: Any) -> None:
        self.text(x, y, words, fill, anchor, font_family="var(--bw-mono, monospace)", **more)

    def svg(self, prefix: str, picture: Picture) -> str:
        names = f"{prefix}-title", f"{prefix}-desc"
        look = "font-family: var(--bw-sans, sans-serif); max-width: 100%; height: auto"
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" width="100%" role="img" '
            f'aria-labelledby="{" ".join(names)}" font-size="{self.variant.text:g}" fill="{color("ink")}" style="{look}">'
        )
        said = "".join(
            f'<{tag} id="{name}">{escape(words, quote=False)}</{tag}>'
            for tag, name, words in zip(("title", "desc"), names, (picture.title, picture.alt), strict=True)
        )
        return "\n".join([head, said, *self.shapes, "</svg>"]) + "\n"


def attributes(more: dict[str, Any]) -> str:
    return "".join(f' {name.replace("_", "-")}="{escape(str(value))}"' for name, value in more.items())
