"""Five figures of one speed, and every recorded product: how near each comes to cuBLAS, and to the data sheet's peak.

    chart(by_machine)            ->  the table of what is drawn, with a title, as the other charts have it
    drawing(chart, variant)      ->  the drawing as SVG, for a wide window or a narrow one

A row is a shape; a mark is a ratio. Several cards stand in one drawing, each in a color of its own. The standard library alone.
"""

from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from scripts.claims.evidence import Evidence, NotMeasured
from scripts.claims.judges_libraries import BY_GLUON, OURS, PEAK_TFLOPS, TEXTBOOK, in_triton, products
from scripts.claims.verdicts import size
from scripts.provenance import records

Row = list[Any]
MARKS = {
    "chosen": "kernel chosen for the shape, of cuBLAS", "alone": "in Triton alone, where that kernel is in Gluon",
    "one": "one kernel of pointers, of cuBLAS", "peak": "of the peak",
}  # fmt: skip
COLORS = ("var(--bw-ours)", "var(--bw-peer-1)", "var(--bw-peer-3)", "var(--bw-peer-4)")
COLUMNS = ["GPU", "shape", "dtype", "kernel", "of cuBLAS", "of the data sheet's peak"]


class Said(NamedTuple):
    """A figure that somebody gave, as a range, and what a wide drawing adds."""

    words: str
    low: float
    high: float
    more: str


FIGURES = [
    Said("80–90 % of cuBLAS", 0.80, 0.90, ", and of CUDA"),
    Said("80 % of CUTLASS", 0.79, 0.81, ""),
    Said("70–90 % of the peak", 0.70, 0.90, ""),
    Said("about 85 % of cuBLAS", 0.84, 0.86, ""),
    Said("85–95 % of cuBLAS", 0.85, 0.95, ", on an H100"),
]


def rows_of(evidence: Evidence) -> list[Row]:
    """Every recorded product of one card, the smallest first: the ratio to cuBLAS, and of squares that to the peak."""
    gpu = evidence.program("hopper/benchmark")["environment"]["gpu"]
    one = {
        (cell.shape, cell.dtype): cell
        for name in (TEXTBOOK, "whole")
        for cell in evidence.cells("matmul_ladder", "matmul_ladder/benchmark", having=(name, "eager"))
    }
    found, alone = [], in_triton(evidence)
    for cell in sorted(products(evidence), key=lambda cell: (cell.flops or 0, cell.shape, cell.dtype)):
        square = len(set(cell.sides)) == 1 and gpu.startswith(("NVIDIA H100", "NVIDIA H200"))
        part = cell.tflops(OURS) / PEAK_TFLOPS if square else None
        found.append([gpu, cell.shape, cell.dtype, "chosen", round(cell.ratio(OURS, "eager"), 4), part and round(part, 4)])
        if cell.shape in BY_GLUON and (cell.shape, cell.dtype) in alone:
            found.append([gpu, cell.shape, cell.dtype, "alone", round(alone[cell.shape, cell.dtype], 4), None])
        if (cell.shape, cell.dtype) in one:
            other = one[cell.shape, cell.dtype]
            name = TEXTBOOK if TEXTBOOK in other.us else "whole"
            found.append([gpu, cell.shape, cell.dtype, "one", round(other.ratio(name, "eager"), 4), None])
    return found


def chart(machines: list[str], baked: Path = records.BAKED) -> dict[str, Any]:
    """What is drawn, of every card that has the records, the primary one first; nothing where none has."""
    rows: list[Row] = []
    environments = []
    for machine in machines:
        evidence = Evidence(machine, baked)
        try:
            rows += rows_of(evidence)
            environments.append(evidence.program("hopper/benchmark")["environment"])
        except NotMeasured:
            continue
    if not rows:
        return {}
    title = "Five figures that are given for one speed, and the products that were measured: a mark is a shape's ratio."
    dates = sorted({made["measured_at"][:10] for made in environments})
    return {
        "name": "claims_products", "title": title, "columns": COLUMNS, "rows": rows, "spots": {},
        "environment": environments[0], "dates": dates,
    }  # fmt: skip


def text(x: float, y: float, words: str, *, anchor: str = "start", color: str = "var(--bw-ink)", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{color}"{weight}>{escape(words)}</text>'


def mark(kind: str, x: float, y: float, color: str) -> str:
    """A disc for the kernel chosen, a square for Triton alone, a ring for the one kernel, a diamond for the peak's share."""
    if kind == "alone":
        return f'<path d="M{x - 3.2:.1f} {y - 3.2:g}h6.4v6.4h-6.4z" fill="{color}" stroke="{color}" stroke-width="1.3"/>'
    if kind == "peak":
        return f'<path d="M{x:.1f} {y - 4:g}l4 4l-4 4l-4 -4z" fill="none" stroke="{color}" stroke-width="1.3"/>'
    fill = color if kind == "chosen" else "var(--bw-paper)"
    return f'<circle cx="{x:.1f}" cy="{y:g}" r="3.6" fill="{fill}" stroke="{color}" stroke-width="1.3"/>'


def drawing(given: dict[str, Any], variant: str) -> str:
    """The figures as bars over all, and below them a row for each shape. The axis runs from nothing to a little over one."""
    wide = variant == "wide"
    width, left, right, step = (720, 220, 14, 17) if wide else (360, 158, 10, 17)
    most = 1.12

    def at(ratio: float) -> float:
        return left + min(ratio, most) / most * (width - left - right)

    shapes = list(dict.fromkeys((row[1], row[2]) for row in given["rows"]))
    cards = list(dict.fromkeys(row[0] for row in given["rows"]))
    top = 24 + step * len(FIGURES)
    bottom = top + 14 + step * len(shapes)
    parts = [text(0, 12, "What is said", bold=True), text(0, top + 10, "What was measured", bold=True)]
    for number, said in enumerate(FIGURES):
        y = 30 + step * number
        parts.append(text(0, y, said.words + (said.more if wide else "")))
        start, end = at(said.low), at(said.high)
        parts.append(
            f'<rect x="{start:.1f}" y="{top:g}" width="{end - start:.1f}" height="{bottom - top:g}" fill="var(--bw-muted)" '
            f'opacity="0.1"/><rect x="{start:.1f}" y="{y - 9:g}" width="{end - start:.1f}" height="9" fill="var(--bw-muted)"/>'
        )
    ticks = (0, 0.25, 0.5, 0.75, 1) if wide else (0, 0.5, 1)
    for tick in ticks:
        line = "var(--bw-limit)" if tick == 1 else "var(--bw-rule)"
        parts.append(f'<path d="M{at(tick):.1f} {20:g}V{bottom + 4:g}" stroke="{line}" fill="none"/>')
        parts.append(text(at(tick), bottom + 18, f"{tick:.0%}", anchor="middle", color="var(--bw-muted)"))
    for number, (shape, dtype) in enumerate(shapes):
        y = top + 22 + step * number
        parts.append(text(0, y + 4, f"{size(shape).replace(' ', '') if not wide else size(shape)} {dtype}"))
        for gpu, _, _, kernel, ratio, peak in (row for row in given["rows"] if (row[1], row[2]) == (shape, dtype)):
            color = COLORS[cards.index(gpu) % len(COLORS)]
            parts.append(mark(kernel, at(ratio), y, color))
            if peak is not None:
                parts.append(mark("peak", at(peak), y, color))
    y = bottom + 40
    for kind, words in MARKS.items():
        parts += [mark(kind, 6, y - 4, COLORS[0]), text(18, y, words)]
        y += step
    for number, gpu in enumerate(cards if len(cards) > 1 else []):
        parts += [mark("chosen", 6, y - 4, COLORS[number % len(COLORS)]), text(18, y, gpu)]
        y += step
    name = f"claims-products-{variant}"
    told = "Ratios of recorded matrix products to cuBLAS and to the peak, below the ranges that sources give; the table has them."
    return (
        f'<svg viewBox="0 0 {width} {y:g}" width="100%" role="img" aria-labelledby="{name}" fill="var(--bw-ink)" '
        f'style="height: auto; font-family: var(--bw-sans); font-size: {12 if wide else 11.5}px">'
        f'<title id="{name}">{told}</title>{"".join(parts)}</svg>'
    )
