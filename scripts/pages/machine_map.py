"""The map of the machine: HBM, the L2 cache, the multiprocessors, and one of them enlarged, with a program on it.

    figure_html(figures)  ->  the figure, docs/generated/machine.html, which any page may include

Sizes and rates come from what scripts/prepare.py collects for the text, so a new bake redraws the map. Each part of the
drawing is a group with a class of its own (map-hbm, map-l2, map-multiprocessors, map-registers, map-shared, map-cores), by
which a page's style can point to it. The standard library alone.
"""

from html import escape
from typing import Any

from scripts.pages.formats import gbps, tflops

WIDTH = 360
COLUMNS, PITCH, SQUARE = 22, 15.4, 11.4  # of the multiprocessors
WARPS, THREADS = 4, 32  # of the program that is drawn
ENLARGED = 9  # the column, in the last row, of the multiprocessor that is enlarged
MEMORY, CHIP, OURS, RULE, MUTED = "var(--bw-memory)", "var(--bw-chip)", "var(--bw-ours)", "var(--bw-rule)", "var(--bw-muted)"


def words(x: float, y: float, text: str, *, bold: bool = False, color: str = "", anchor: str = "") -> str:
    style = (' font-weight="bold"' if bold else "") + (f' fill="{color}"' if color else "")
    style += f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}"{style}>{escape(text)}</text>'


def named(x: float, y: float, name: str, rest: str, color: str = "") -> str:
    """A part's name, and what is said of it in the same line."""
    fill = f' fill="{color}"' if color else ""
    return f'<text x="{x:g}" y="{y:g}"{fill}><tspan font-weight="bold">{escape(name)}</tspan> {escape(rest)}</text>'


def box(x: float, y: float, width: float, height: float, *, stroke: str = RULE, fill: str = "none", dashed: bool = False) -> str:
    line = 1 if stroke == RULE else 1.6
    dashes = ' stroke-dasharray="5 3"' if dashed else ""
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {place} fill="{fill}" stroke="{stroke}" stroke-width="{line}"{dashes}/>'


def both_ways(x: float, top: float, bottom: float) -> str:
    """A line with a head at either end."""
    up, down = f"m-4 6l4 -6l4 6M{x:g} {bottom:g}", "m-4 -6l4 6l4 -6"
    return f'<path d="M{x:g} {bottom:g}V{top:g}{up}{down}" fill="none" stroke="{MUTED}"/>'


def part(name: str, *shapes: str) -> str:
    return f'<g class="map-{name}">{"".join(shapes)}</g>'


def squares(count: int, top: float) -> tuple[list[str], float, float, float]:
    """A square for each multiprocessor; the left and the right edge of the enlarged one, and where the rows end."""
    rows = -(-count // COLUMNS)
    found, chosen = [], min((rows - 1) * COLUMNS + ENLARGED, count - 1)
    for place in range(count):
        x, y = 12 + place % COLUMNS * PITCH, top + place // COLUMNS * PITCH
        fill = CHIP if place == chosen else "none"
        found.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{SQUARE}" height="{SQUARE}" fill="{fill}" stroke="{CHIP}"/>')
    left = 12 + chosen % COLUMNS * PITCH
    return found, left, left + SQUARE, top + (rows - 1) * PITCH + SQUARE


def threads(left: float, top: float) -> list[str]:
    """The program: a row for each warp, and in it a dot for each thread."""
    found = []
    for warp in range(WARPS):
        y = top + 13 * warp
        dots = "".join(f"M{left + 5.4 * thread:g} {y:g}h3.6v7h-3.6z" for thread in range(THREADS))
        found.append(f'<path d="{dots}" fill="{OURS}"/>')
    return found


def said(figures: dict[str, Any]) -> dict[str, str]:
    """What the map says of the machine."""
    sizes, sheet, rates = figures["kept"]["memory_levels"], figures["kept"]["hardware_sheet"], figures["ceiling"]
    return {
        "multiprocessors": f"{sizes['multiprocessors']}",
        "registers": f"{sizes['register_bytes'] / 2**10:.0f} KiB",
        "shared": f"{sizes['shared_bytes'] / 2**10:.0f} KiB",
        "threads": f"{sheet['threads_multiprocessor']:,}",
        "l2": f"{sizes['l2_bytes'] / 2**20:.0f} MiB",
        "hbm": f"{sizes['memory_bytes'] / 2**30:.0f} GiB",
        "copy": gbps(rates["copy_gbps"]),
        "product": tflops(rates["matmul_tflops"]),
        "gpu": sheet["name"],
    }


def drawing(figures: dict[str, Any]) -> str:
    say = said(figures)
    count = figures["kept"]["memory_levels"]["multiprocessors"]
    cells, left, right, below = squares(count, 50)
    panel = below + 20  # where the enlarged multiprocessor begins
    l2 = panel + 198
    hbm = l2 + 84
    height = hbm + 58
    shapes = [
        box(1, 1, WIDTH - 2, l2 + 49),
        words(12, 19, "the chip", bold=True),
        words(WIDTH - 12, 19, "all memory on it is SRAM", color=MUTED, anchor="end"),
        part("multiprocessors", words(12, 41, f"{say['multiprocessors']} multiprocessors"), *cells),
        words(WIDTH - 12, 41, f"tensor cores of all: {say['product']}", color=MUTED, anchor="end"),
        f'<path d="M{left:.1f} {below:.1f}L10 {panel:g}M{right:.1f} {below:.1f}L{WIDTH - 10} {panel:g}" stroke="{RULE}"/>',
        box(10, panel, WIDTH - 20, 170, fill="var(--bw-panel)"),
        words(20, panel + 18, "one multiprocessor"),
        words(WIDTH - 20, panel + 18, f"room for {say['threads']} threads", color=MUTED, anchor="end"),
        part(
            "registers",
            box(20, panel + 28, 188, 132, stroke=CHIP),
            words(29, panel + 46, "registers", bold=True),
            words(200, panel + 46, say["registers"], anchor="end"),
            *threads(29, panel + 57),
            words(29, panel + 125, f"one program: {WARPS} warps", color=OURS),
            words(29, panel + 143, f"of {THREADS} threads, and its blocks", color=OURS),
        ),
        part(
            "cores",
            box(216, panel + 28, 124, 56, stroke=CHIP),
            words(224, panel + 46, "tensor cores", bold=True),
            words(224, panel + 65, "multiply tiles", color=MUTED),
        ),
        part(
            "shared",
            box(216, panel + 92, 124, 68, stroke=CHIP, dashed=True),
            words(224, panel + 110, "shared memory", bold=True),
            words(224, panel + 127, f"up to {say['shared']}"),
            words(224, panel + 144, "for exchange", color=MUTED),
        ),
        both_ways(WIDTH / 2, panel + 172, l2 - 2),
        part(
            "l2",
            box(10, l2, WIDTH - 20, 40, stroke=CHIP),
            named(20, l2 + 24, "L2 cache", f"{say['l2']}, used by all"),
        ),
        both_ways(WIDTH / 2, l2 + 42, hbm - 2),
        words(WIDTH / 2 + 12, hbm - 12, f"a copy: {say['copy']}", color=MUTED),
        part(
            "hbm",
            box(1, hbm, WIDTH - 2, 56, stroke=MEMORY),
            named(12, hbm + 23, "HBM", f"{say['hbm']}, beside the chip: your tensors", MEMORY),
            f'<path d="M12 {hbm + 35:g}h336v10h-336z" fill="none" stroke="{MEMORY}"/>',
            f'<path d="M96 {hbm + 35:g}h28v10h-28z" fill="{OURS}"/>',
        ),
    ]
    about = (
        f"A chip with {say['multiprocessors']} multiprocessors. One is enlarged: registers of {say['registers']}, in which "
        f"a program of {WARPS} warps of {THREADS} threads keeps its blocks; tensor cores; shared memory up to {say['shared']}. "
        f"Below them the L2 cache of {say['l2']}, which all multiprocessors use. Outside the chip, HBM of {say['hbm']}, which "
        f"holds tensors. Between the two a copy moves {say['copy']}. Large matrix products reach {say['product']}."
    )
    head = (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-labelledby="machine-title machine-desc" fill="var(--bw-ink)" '
        f'style="max-width: 26rem; width: 100%; height: auto; font-family: var(--bw-sans); font-size: 12px">'
    )
    named_so = f'<title id="machine-title">The machine</title><desc id="machine-desc">{escape(about)}</desc>'
    return f"{head}{named_so}{''.join(shapes)}</svg>"


def figure_html(figures: dict[str, Any]) -> str:
    say = said(figures)
    caption = (
        f"The machine, here an {say['gpu']}: sizes as it reports them, rates as measured. One program and, in HBM, the "
        "block that it works on have the same color. Not to scale."
    )
    return f'<figure class="machine-map">\n{drawing(figures)}\n<figcaption>{escape(caption)}</figcaption>\n</figure>\n'
