"""The chooser of a stack as an element for a page: a table for each pattern, and effort against speed as a curve.

    element_html(given, root)  ->  the element: a section a pattern, which needs no script

The standard library alone.
"""

import math
from html import escape
from typing import Any

from scripts.pages.formats import us

Record = dict[str, Any]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 250, 46, 14, 16, 40
MOST_LINES = 256
NAME_WIDTH, NAME_HEIGHT = 90, 15  # the room that a name in the curve takes, with what parts it from the next
NEAR = 0.9  # of the best speed: what counts as coming near it


def cells(row: Record) -> list[str]:
    """Lines, build, time and speed of a row, in words."""
    lines = "not counted" if row["lines"] is None else str(row["lines"])
    build = "–" if row["build_seconds"] is None else f"{row['build_seconds']:.2f}\u00a0s"
    if row["ms"] is None:
        return [lines, build, f"not measured: {row['why']}", "not measured"]
    return [lines, build, us(row["ms"][1] * 1e3), f"{row['speed']:.0%}"]


HEADS = ("Tool", "Lines", "Build", "Time", "Speed of the best", "What it cannot do")


def table_html(pattern: Record, root: str) -> str:
    """One pattern's tools as a table, whose caption leads to the chapter and to the program behind the figures."""
    head = "".join(f'<th scope="col">{name}</th>' for name in HEADS)
    body = []
    for row in pattern["tools"]:
        told = "".join(f"<td>{escape(cell)}</td>" for cell in [*cells(row), row["cannot"]])
        winner = ' class="winner"' if row["speed"] == 1 else ""
        body.append(f'<tr data-tool="{row["tool"]}"{winner}><th scope="row">{row["name"]}</th>{told}</tr>')
    links = [(pattern["chapter"], "its chapter"), (pattern["program"], "its program")]
    shown = ", ".join(f'<a href="{root}{address}">{words}</a>' for address, words in links)
    caption = f"<caption>Behind every figure: {shown}</caption>"
    return f'<table class="chooser-list">{caption}<thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def place(row: Record) -> tuple[float, float]:
    """Where a measured row stands in the curve: lines of code to the right, by doubling; speed upwards."""
    x = LEFT + (WIDTH - LEFT - RIGHT) * math.log2(max(row["lines"], 1)) / math.log2(MOST_LINES)
    return round(x, 1), round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - row["speed"]), 1)


def drawn(pattern: Record) -> list[Record]:
    """The rows that can stand in the curve, by their lines."""
    return sorted((row for row in pattern["tools"] if row["speed"] and row["lines"]), key=lambda row: row["lines"])


def curve_svg(given: Record, chosen: int) -> str:
    """Effort against speed: the chosen pattern's tools with their names, the others' lines behind them."""
    low, high, right = HEIGHT - BOTTOM, TOP, WIDTH - RIGHT
    parts = [f'<path class="axis" d="M{LEFT} {high}V{low}H{right}"/>']
    for lines in (1, 4, 16, 64, 256):
        x = LEFT + (right - LEFT) * math.log2(lines) / 8
        parts.append(f'<text class="tick" x="{x:g}" y="{low + 16}" text-anchor="middle">{lines}</text>')
    for share in (0, 50, 100):
        y = low - (low - high) * share / 100
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 4:g}" text-anchor="end">{share}%</text>')
    parts.append(f'<text class="tick" x="{(LEFT + right) / 2:g}" y="{HEIGHT - 6}" text-anchor="middle">lines of code</text>')
    for at, pattern in enumerate(given["patterns"]):
        points = " ".join(f"{x:g},{y:g}" for x, y in map(place, drawn(pattern)))
        if points and at != chosen:
            parts.append(f'<polyline class="other" points="{points}"/>')
    rows_drawn = drawn(given["patterns"][chosen])
    points = " ".join(f"{x:g},{y:g}" for x, y in map(place, rows_drawn))
    parts += [f'<polyline class="chosen" points="{points}"/>'] if points else []
    before = (-float(NAME_WIDTH), 0.0)
    for row in rows_drawn:
        x, y = place(row)
        name_y = y + (18 if row["speed"] > 0.5 else -9)
        if x - before[0] < NAME_WIDTH and abs(name_y - before[1]) < NAME_HEIGHT:
            name_y = before[1] + NAME_HEIGHT
        before = (x, name_y)
        side = "start" if x < LEFT + 40 else "end" if x > right - 60 else "middle"
        label = f'<text x="{x:g}" y="{name_y:g}" text-anchor="{side}">{row["name"]}</text>'
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="4.5"/>{label}')
    words = f"Lines of code against speed, {given['patterns'][chosen]['name']}"
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words}">{"".join(parts)}</svg>'


def count(lines: int) -> str:
    return "one line" if lines == 1 else f"{lines} lines"


def words_html(pattern: Record) -> str:
    """The fastest tool, the shortest that comes near it, and what is missing."""
    measured, head = drawn(pattern), f"<b>{pattern['name']}</b>, {pattern['case']}."
    missing = [row["name"] for row in pattern["tools"] if row["ms"] is None]
    left = f" Not measured: {', '.join(missing)}." if missing else ""
    if not measured:
        return head + left
    best = max(measured, key=lambda row: row["speed"])
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
        f'<div class="chooser-curve">{curve_svg(given, at)}</div><div class="scroll" tabindex="0" role="region" '
        f'aria-label="{pattern["name"]} with every tool">{table_html(pattern, root)}</div></section>'
    )


def element_html(given: Record, root: str) -> str:
    """The whole element for a page, without a blank line, which Markdown would take as the end of the HTML."""
    sections = "".join(section_html(given, at, root) for at in range(len(given["patterns"])))
    return (
        f'<figure class="explorer-figure chooser-figure" id="choose-your-stack"><stack-chooser>'
        f'<div class="explorer chooser still">{sections}</div></stack-chooser>'
        f"<figcaption>Lines are counted by the programs, without blank lines and comments. Times of one pattern are of one run, "
        f"the tools in turn, the L2 cache flushed before each call. The pale lines are the other patterns. "
        f'{escape(given["made"])} <a href="{root}data/chooser.json" download>JSON</a></figcaption></figure>\n'
    )
