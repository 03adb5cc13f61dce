"""The configuration picker: what was measured of one product in Triton and in CUDA C++, as data and as an element for a page.

    data(record)               ->  what the element in the browser reads, every number from the record
    element_html(given, src)   ->  the element, with a picture that needs no script

The standard library alone.
"""

from html import escape
from typing import Any

from scripts.provenance.environment import measured_on

Record = dict[str, Any]
NAME = "landscape/measure"
SIDES = {"triton": "Triton", "cuda": "CUDA C++"}


def data(record: Record) -> Record:
    figures = record["figures"]
    return {key: figures[key] for key in ("configurations", "texts", "shapes")} | {"made": measured_on(record["environment"])}


def lines_of(texts: Record, number: int) -> list[str]:
    """The text of one configuration: the common lines, and its own in their places."""
    own = texts["changes"][number]
    return [own.get(str(at), line) for at, line in enumerate(texts["lines"])]


def called(configuration: list[int]) -> str:
    m, n, k, warps, stages = configuration
    return f"{m} × {n} × {k}, {warps} warps, {stages} stages"


def told(row: Record) -> str:
    """A row's rate, or why it has none."""
    return f"fails: {row['failure']}" if row["failure"] else f"{row['us']:,.1f} µs, {row['tflops']:,.0f} TFLOP/s"


def opens(found: Record) -> int:
    """The configuration that is shown first: the autotuner's choice, else the fastest."""
    if found["chosen"] is not None:
        return found["chosen"]
    timed = [(row["us"], at) for at, row in enumerate(found["triton"]) if row["us"] is not None]
    return min(timed)[1] if timed else 0


def element_html(given: Record, src: str) -> str:
    """The whole element for a page, without a blank line, which Markdown would take as the end of the HTML."""
    shape, found = next(iter(given["shapes"].items()))
    shown = opens(found)
    spelled = shape.replace("x", " × ")
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Configuration", *SIDES.values()))
    rows = []
    for at, configuration in enumerate(given["configurations"]):
        mark = "<b> ✓ autotuner’s choice</b>" if at == found["chosen"] else ""
        cells = "".join(f"<td>{escape(told(found[side][at]))}</td>" for side in SIDES)
        winner = ' class="winner"' if mark else ""
        rows.append(f'<tr{winner}><th scope="row">{called(configuration)}{mark}</th>{cells}</tr>')
    table = f'<table class="picker-list"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    panes = "".join(pane_html(name, lines_of(given["texts"][side], shown)) for side, name in SIDES.items())
    words = f"{called(given['configurations'][shown])}, for {spelled}: the Triton kernel, and what it takes in CUDA C++."
    return (
        f'<figure class="explorer-figure picker-figure" id="config-picker"><config-picker data-src="{src}">'
        f'<div class="explorer picker still"><p class="given">Bf16, {spelled}. PyTorch takes {found["eager_us"]:,.1f} µs.</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Every configuration for this shape">{table}</div>'
        f'<p class="explorer-words">{words}</p><div class="picker-panes">{panes}</div>'
        f'<p class="note">With scripts on, you can choose a configuration and a shape, and see which lines change.</p></div>'
        f"</config-picker><figcaption>The same product twice, all configurations in turn, the L2 cache flushed before each call. "
        f"Both sides of a configuration have the same tile, warps and stages. {escape(given['made'])}</figcaption></figure>\n"
    )


def pane_html(name: str, lines: list[str]) -> str:
    text = "".join(
        f'<span class="line" style="--in:{len(line) - len(line.lstrip())}">{escape(line, quote=False) or "&#8203;"}</span>'
        for line in lines
    )
    return (
        f'<section><p class="where">{name}<small>{len(lines)} lines</small></p>'
        f'<div class="picker-code" tabindex="0" role="region" aria-label="{name}"><code>{text}</code></div></section>'
    )
