"""A matplotlib figure as SVG that can stand in a page.

Colors and fonts are handed to matplotlib as plain values and replaced here by the page's variables, so that one file
follows both palettes and still reads alone.
"""

import io
import itertools
import re
from collections.abc import Iterable
from xml.etree import ElementTree

from scripts.drawing.style import COLORS, GROUND, Canvas

SVG = "{http://www.w3.org/2000/svg}"
TEXT = f"{SVG}text"
XLINK = "{http://www.w3.org/1999/xlink}href"


def to_svg(canvas: Canvas, prefix: str, title: str, alt: str) -> str:
    """The figure as an SVG element for a page: no fixed size, no foreign ids, the page's colors and fonts."""
    buffer = io.StringIO()
    canvas.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(buffer.getvalue())
    for child in list(root):
        if child.tag == f"{SVG}metadata" or child.find(f"{SVG}style") is not None:
            root.remove(child)
    shorten(root)
    rename_ids(root, prefix)
    root.attrib.clear()
    root.attrib.update({
        "viewBox": f"0 0 {canvas.variant.width} {canvas.height:g}", "width": "100%", "role": "img",
        "aria-labelledby": f"{prefix}-title {prefix}-desc", "stroke-linejoin": "round",
        "style": "font-family: var(--bw-sans, sans-serif); max-width: 100%; height: auto",
    })  # fmt: skip
    for position, (tag, words) in enumerate((("title", title), ("desc", alt))):
        element = ElementTree.Element(f"{SVG}{tag}", {"id": f"{prefix}-{tag}"})
        element.text = words
        root.insert(position, element)
    ElementTree.register_namespace("", SVG.strip("{}"))
    ElementTree.register_namespace("xlink", XLINK[1:].split("}")[0])
    return recolor(ElementTree.tostring(root, encoding="unicode")) + "\n"


def shorten(root: ElementTree.Element) -> None:
    """Take out what a page does not need: groups that group nothing, white space, digits that nobody can see.

    A place is kept to a tenth of a pixel, the shape of a mark, which is small, to a hundredth.
    """
    marks = {id(element) for defs in root.iter(f"{SVG}defs") for element in defs.iter()}
    for element in root.iter():
        element.text = element.text if element.tag == TEXT else None
        element.tail = None
        for name in ("d", "x", "y", "transform"):
            if name in element.attrib:
                digits = 2 if name == "transform" or id(element) in marks else 1
                element.set(name, round_numbers(element.attrib[name], digits))
        if re.match(r"rotate\(-?0 ", element.get("transform", "")):
            del element.attrib["transform"]
        if "style" in element.attrib:
            style = element.attrib["style"].replace("font-family: 'DejaVu Sans'; ", "").replace("; stroke-dashoffset: 0", "")
            element.set("style", style.replace("; text-anchor: start", ""))
        hide_behind(element)
    for element in root.iter():
        element[:] = gather(flatten(element))


def hide_behind(group: ElementTree.Element) -> None:
    """Words on ground of their own hide the lines behind them."""
    if group.get("id") == GROUND:
        for child in group.findall(TEXT):
            child.set("style", f"{child.get('style')}; paint-order: stroke; stroke: {COLORS['paper']}; stroke-width: 4")


def flatten(parent: ElementTree.Element) -> Iterable[ElementTree.Element]:
    """A group's children, with bare groups replaced by their own, and without those that draw nothing."""
    children: list[ElementTree.Element] = []
    for child in parent:
        if child.tag == f"{SVG}g" and set(child.attrib) <= {"id"}:
            children.extend(flatten(child))
        elif not (child.tag == TEXT and not child.text) and child.get("style") != "fill: none":
            children.append(child)
    return children


def gather(children: Iterable[ElementTree.Element]) -> Iterable[ElementTree.Element]:
    """Neighbors of one style, such as the marks of a line or the words of an axis, in a group that says the style once."""
    for style, neighbors in itertools.groupby(children, lambda child: child.get("style", "")):
        alike = list(neighbors)
        if style and len(alike) > 1:
            for child in alike:
                del child.attrib["style"]
            group = ElementTree.Element(f"{SVG}g", {"style": style})
            group.extend(alike)
            yield group
        else:
            yield from alike


def round_numbers(text: str, digits: int) -> str:
    """Numbers with so many digits after the point, and no more space between them than they need."""
    rounded = re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda match: f"{round(float(match[0]), digits) + 0.0:g}", text)
    return re.sub(r"\s*(?<![a-z])([A-Za-z])(?![a-z])\s*", r"\1", rounded.strip())


def rename_ids(root: ElementTree.Element, prefix: str) -> None:
    """Ids that other charts on the page cannot share; ids that nothing refers to go."""
    markup = ElementTree.tostring(root, encoding="unicode")
    used = set(re.findall(r'href="#([^"]+)"', markup))
    names: dict[str, str] = {}
    for element in root.iter():
        if element.get("id") in used:
            element.set("id", names.setdefault(element.attrib["id"], f"{prefix}-{len(names)}"))
        else:
            element.attrib.pop("id", None)
    for element in root.iter():
        # A plain href would trip the theme's instant navigation, which takes every one for a page's address.
        if XLINK in element.attrib:
            element.set(XLINK, "#" + names[element.attrib[XLINK][1:]])


def recolor(svg: str) -> str:
    for name, value in COLORS.items():
        svg = svg.replace(value, f"var(--bw-{name}, {value})")
    return svg
