"""The chooser of a stack as an element for a page: for each pattern its times as bars, and a table.

    element_html(given, root)  ->  the element: a section a pattern, which needs no script

The standard library alone.
"""

from html import escape
from typing import Any

from scripts.pages.formats import us
from scripts.pages.peers import LEVEL

Record = dict[str, Any]
NEAR = 0.9  # of the best speed: what counts as coming near it


def cells(row: Record) -> list[str]:
    """Lines, build, time and speed of a row, in words."""
    lines = "not counted" if row["lines"] is None else str(row["lines"])
    build = "–" if row["build_seconds"] is None else f"{row['build_seconds']:.2f}\u00a0s"
    if row["ms"] is None:
        return [lines, build, f"not measured: {row['why']}", "not measured"]
    return [lines, build, us(row["ms"][1] * 1e3), f"{row['speed']:.0%}"]


HEADS = ("Tool", "Lines", "Build", "Time", "Speed of the best", "What it cannot do")


def blurred(rows: list[Record]) -> list[str]:
    """The tools that the least median does not rank: it is not level with theirs, and yet its times and theirs overlap."""
    measured = {row["name"]: row["ms"] for row in rows if row["ms"]}
    _, least, latest = min(measured.values(), key=lambda ms: ms[1])
    return [name for name, (early, middle, _) in measured.items() if middle > (1 + LEVEL) * least and early <= latest]


def leads(pattern: Record, row: Record) -> bool:
    """Whether a tool is marked as the fastest."""
    return row["speed"] == 1 and not blurred(pattern["tools"])


def table_html(pattern: Record, root: str) -> str:
    """One pattern's tools as a table, whose caption leads to the chapter and to the program behind the figures."""
    head = "".join(f'<th scope="col">{name}</th>' for name in HEADS)
    body = []
    for row in pattern["tools"]:
        told = "".join(f"<td>{escape(cell)}</td>" for cell in [*cells(row), row["cannot"]])
        winner = ' class="winner"' if leads(pattern, row) else ""
        body.append(f'<tr data-tool="{row["tool"]}"{winner}><th scope="row">{row["name"]}</th>{told}</tr>')
    links = [(pattern["chapter"], "its chapter"), (pattern["program"], "its program")]
    shown = ", ".join(f'<a href="{root}{address}">{words}</a>' for address, words in links)
    caption = f"<caption>Behind every figure: {shown}</caption>"
    return f'<table class="chooser-list">{caption}<thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def drawn(pattern: Record) -> list[Record]:
    """The rows with a time and a count of lines, by their lines."""
    return sorted((row for row in pattern["tools"] if row["speed"] and row["lines"]), key=lambda row: row["lines"])


def bars_html(pattern: Record) -> str:
    """Each tool's time as a bar from zero to the slowest, with its number; what was not measured has none."""
    slowest = max((row["ms"][1] for row in pattern["tools"] if row["ms"]), default=None)
    items = []
    for row in pattern["tools"]:
        lines = "" if row["lines"] is None else f"<small>{count(row['lines'])}</small>"
        name = f'<span class="tool">{row["name"]}{lines}</span>'
        if row["ms"] is None:
            items.append(f'<li data-tool="{row["tool"]}">{name}<span class="time none">not measured</span></li>')
            continue
        best = " best" if leads(pattern, row) else ""
        bar = f'<span class="bar" style="--part:{row["ms"][1] / slowest:.4f}"></span>'
        time = f'<span class="time">{us(row["ms"][1] * 1e3)}</span>'
        items.append(f'<li data-tool="{row["tool"]}" class="measured{best}">{name}<span class="track">{bar}{time}</span></li>')
    return f'<ul class="chooser-bars" aria-label="Time with each tool, {pattern["name"]}">{"".join(items)}</ul>'


def count(lines: int) -> str:
    return "one line" if lines == 1 else f"{lines} lines"


def listed(names: list[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def words_html(pattern: Record) -> str:
    """The fastest tool, if the times tell, the shortest that comes near it, and what is missing."""
    measured, head = drawn(pattern), f"<b>{pattern['name']}</b>, {pattern['case']}."
    missing = [row["name"] for row in pattern["tools"] if row["ms"] is None]
    left = f" Not measured: {', '.join(missing)}." if missing else ""
    if not measured:
        return head + left
    best = max(measured, key=lambda row: row["speed"])
    if unsure := blurred(measured):
        least = f" The least median is that of {best['name']}, {us(best['ms'][1] * 1e3)} with {count(best['lines'])}"
        return f"{head}{least}. Its times overlap with those of {listed(unsure)}, so this ranks none of them.{left}"
    near = next(row for row in measured if row["speed"] >= NEAR)
    first = f" The fastest is {best['name']}, {us(best['ms'][1] * 1e3)} with {count(best['lines'])}"
    if near is best:
        return f"{head}{first}. Nothing shorter reaches {NEAR:.0%} of its speed.{left}"
    return f"{head}{first}. {near['name']} reaches {near['speed']:.0%} of its speed with {count(near['lines'])}.{left}"


def section_html(given: Record, at: int, root: str) -> str:
    pattern = given["patterns"][at]
    return (
        f'<section data-pattern="{pattern["key"]}" data-name="{pattern["name"]}">'
        f'<p class="explorer-words">{words_html(pattern)}</p>'
        f'{bars_html(pattern)}<div class="scroll" tabindex="0" role="region" '
        f'aria-label="{pattern["name"]} with every tool">{table_html(pattern, root)}</div></section>'
    )


def element_html(given: Record, root: str) -> str:
    """The whole element for a page, without a blank line, which Markdown would take as the end of the HTML."""
    sections = "".join(section_html(given, at, root) for at in range(len(given["patterns"])))
    return (
        f'<figure class="explorer-figure chooser-figure" id="choose-your-stack"><stack-chooser>'
        f'<div class="explorer chooser still">{sections}</div></stack-chooser>'
        f"<figcaption>Lines are counted by the programs, without blank lines and comments. Times of one pattern are of one run, "
        f"the tools in turn, the L2 cache flushed before each call. The bars of a pattern begin at zero. "
        f'{escape(given["made"])} <a href="{root}data/chooser.json" download>JSON</a></figcaption></figure>\n'
    )
