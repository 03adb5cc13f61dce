"""The map of the machine as a strip, on which a page lights up what it is about: docs/generated/machine/<page>.html.

    figure_html("memory", figures)  ->  the strip of a page of MAPS, drawn for wide and narrow windows

The parts are those of machine_map.py, under the same classes. The standard library alone.
"""

from html import escape
from typing import Any, NamedTuple

from scripts.pages.machine_map import CHIP, MEMORY, MUTED, OURS, RULE, THREADS, WARPS, said


class Lit(NamedTuple):
    """The parts that a page is about, and what it says of them."""

    parts: tuple[str, ...]
    caption: str


MAPS = {
    "block-model": Lit(("registers",), "Where a block is: in the registers of one program's threads."),
    "memory": Lit(("hbm", "l2"), "What this page counts: the bytes on their way between HBM and the chip."),
    "fused-softmax": Lit(("hbm", "registers"), "A row comes from HBM once, stays in registers, and goes back once."),
    "matmul-ladder": Lit(
        ("registers", "shared", "cores"), "Tiles wait in shared memory, tensor cores multiply them, and registers hold the sums."
    ),
    "tile-order": Lit(("l2", "multiprocessors"), "Programs on all multiprocessors share one cache."),
}
NAMES = {
    "hbm": "HBM", "l2": "the L2 cache", "multiprocessors": "the multiprocessors", "registers": "registers",
    "shared": "shared memory", "cores": "tensor cores",
}  # fmt: skip
Place = tuple[float, float, float, float]
# Where each part lies, and which way leads from memory to the chip: the size of the drawing, its boxes, its arrows.
WIDE: tuple[tuple[int, int], dict[str, Place], tuple[str, ...]] = (
    (720, 106),
    {
        "hbm": (1, 24, 128, 60),
        "l2": (165, 24, 104, 60),
        "multiprocessors": (305, 1, 414, 104),
        "registers": (315, 26, 204, 70),
        "shared": (527, 26, 94, 70),
        "cores": (629, 26, 82, 70),
    },
    ("M132 54H162m-5 -4l5 4l-5 4M137 50l-5 4l5 4", "M272 54H302m-5 -4l5 4l-5 4M277 50l-5 4l5 4"),
)
NARROW: tuple[tuple[int, int], dict[str, Place], tuple[str, ...]] = (
    (360, 196),
    {
        "hbm": (1, 1, 158, 50),
        "l2": (201, 1, 158, 50),
        "multiprocessors": (1, 85, 358, 110),
        "registers": (10, 112, 194, 74),
        "shared": (211, 112, 70, 74),
        "cores": (288, 112, 62, 74),
    },
    ("M162 26H198m-5 -4l5 4l-5 4M167 22l-5 4l5 4", "M280 54V82m-4 -5l4 5l4 -5M276 59l4 -5l4 5"),
)


def threads(place: Place, color: str) -> str:
    """A row for each warp of a program, in it a dot for each thread."""
    x, y, width, _ = place
    pitch = (width - 18) / THREADS
    dots = "".join(
        f"M{x + 9 + pitch * thread:.5g} {y + 27 + 9 * warp:g}h{pitch - 1.8:.3g}v5h{1.8 - pitch:.3g}z"
        for warp in range(WARPS)
        for thread in range(THREADS)
    )
    return f'<path d="{dots}" fill="{color}"/>'


def lines_of(name: str, say: dict[str, str]) -> list[str]:
    return {
        "hbm": [f"HBM, {say['hbm']}", "your tensors"],
        "l2": ["L2 cache", say["l2"]],
        "multiprocessors": [f"one of {say['multiprocessors']} multiprocessors"],
        "registers": ["registers"],
        "shared": ["shared", "memory"],
        "cores": ["tensor", "cores"],
    }[name]


def part(name: str, place: Place, say: dict[str, str], lit: bool) -> str:
    x, y, width, height = place
    color = MEMORY if name == "hbm" else CHIP
    look = f'fill="{color}" fill-opacity="0.16" stroke="{color}" stroke-width="2"' if lit else f'fill="none" stroke="{RULE}"'
    shapes = [f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {look}/>']
    for number, words in enumerate(lines_of(name, say)):
        weight = ' font-weight="bold"' if lit and number == 0 else ""
        fill = "" if lit else f' fill="{MUTED}"'
        shapes.append(f'<text x="{x + 9:g}" y="{y + 18 + 17 * number:g}"{weight}{fill}>{escape(words)}</text>')
    if name == "registers":
        shapes.append(threads(place, OURS if lit else RULE))
    return f'<g class="map-{name}">{"".join(shapes)}</g>'


def drawing(page: str, variant: str, say: dict[str, str]) -> str:
    (width, height), places, arrows = WIDE if variant == "wide" else NARROW
    lit = MAPS[page].parts
    names = f"machine-{variant}-title"
    shapes = [part(name, place, say, name in lit) for name, place in places.items()]
    shapes += [f'<path d="{path}" fill="none" stroke="{MUTED}"/>' for path in arrows]
    title = f"The machine, with {' and '.join(NAMES[name] for name in lit)} lit"
    return (
        f'<svg viewBox="0 0 {width} {height}" width="100%" role="img" aria-labelledby="{names}" fill="var(--bw-ink)" '
        f'style="height: auto; font-family: var(--bw-sans); font-size: 12px"><title id="{names}">{title}</title>'
        f"{''.join(shapes)}</svg>"
    )


def figure_html(page: str, figures: dict[str, Any]) -> str:
    say = said(figures)
    drawings = [f'<div class="{variant}">{drawing(page, variant, say)}</div>' for variant in ("wide", "narrow")]
    lead = f'{escape(MAPS[page].caption)} See <a href="../hardware/#the-map">the map</a>.'
    return "\n".join(['<figure class="chart machine-map">', *drawings, f"<figcaption>{lead}</figcaption>", "</figure>"]) + "\n"
