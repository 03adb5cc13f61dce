"""What the Markdown twins of the pages leave out, named in mkdocs.yml: `preprocess(soup, path)` is called for each page.

The colors of code are of no use in Markdown, and a long table behind a chart is better fetched: its links stay.

All that, and the drawings, are most of a page's elements, and a third of the twins' time went into reading what they leave out.
So `read_less`, which main.py calls, has Beautiful Soup pass over it. The twins are the same without that, but for a drawing's
description: the plugin leaves out all of a drawing before `preprocess` sees it, and here the words of one without a table stay.

A third of a build's time is still theirs, and no page waits for a twin. So `begin` has a process beside MkDocs make them, and
`end` collects them before the plugin writes them. mkdocs-macros lets main.py know when each of the two is due.
"""

import atexit
import functools
import inspect
import re
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

from bs4.builder import HTMLParserTreeBuilder, builder_registry  # type: ignore[attr-defined]

LONGEST = 40  # rows of a chart's table that a twin repeats
LEFT_OUT = "A long table, left out here; the files have it."
OF_A_LAB = "lab-cell"  # mkdocs-jupyter reads a lab's page in the same way, to show it
CODE = re.compile(r"<pre data-search-exclude.*?</pre>", re.DOTALL)
COLOR = re.compile(r"</?(?:span|a)\b[^>]*>")
DRAWING = re.compile(r"<svg data-search-exclude.*?</svg>", re.DOTALL)
CHART = re.compile(r'<figure class="chart[^"]*".*?</figure>', re.DOTALL)
SAID = re.compile(r"<desc\b[^>]*>(.*?)</desc>", re.DOTALL)
TABLE = re.compile(r"<table data-search-exclude.*?</table>", re.DOTALL)


def preprocess(soup: Any, _: str) -> None:
    for code in soup.select("pre > code"):
        code.string = code.get_text()
    for line_end in soup.select("td br"):  # which would become a space
        line_end.replace_with("; ")
    for table in soup.select("figure.chart table"):
        if len(table.find_all("tr")) > LONGEST:
            table.replace_with(LEFT_OUT)


def shorten(table: re.Match[str]) -> str:
    return LEFT_OUT if table[0].count("<tr") > LONGEST else table[0]


def described(drawing: re.Match[str]) -> str:
    found = SAID.search(drawing[0])
    return f"{found[1]} " if found else ""


def less(html: str) -> str:
    """A page without the elements that its twin leaves out."""
    html = CHART.sub(lambda chart: DRAWING.sub("", TABLE.sub(shorten, chart[0])), html)
    return DRAWING.sub(described, CODE.sub(lambda code: COLOR.sub("", code[0]), html))


class Reader(HTMLParserTreeBuilder):
    def prepare_markup(self, markup: Any, *args: Any, **options: Any) -> Iterator[Any]:
        whole = not isinstance(markup, str) or OF_A_LAB in markup
        return super().prepare_markup(markup if whole else less(markup), *args, **options)


def read_less() -> None:
    builder_registry.register(Reader)


class AsConverted:
    """Stands in for mdformat, which would line up columns and join lines for longer than all else takes."""

    @staticmethod
    def text(markdown: str, **_: Any) -> str:
        return markdown.strip() + "\n"


def make(html: str, options: dict[str, Any]) -> str:
    """A twin, as the plugin makes it, with the lines as they come."""
    from mkdocs_llmstxt._internal import plugin

    plugin.mdformat = AsConverted  # type: ignore[assignment]
    return inspect.unwrap(plugin._generate_page_markdown)(html, **options)


@functools.cache
def beside() -> ProcessPoolExecutor:
    """The process that makes twins, as long as this one lives. Ctrl-C ends it without a word."""
    pool = ProcessPoolExecutor(1, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_DFL))
    atexit.register(pool.shutdown)
    return pool


def begin() -> None:
    """From now on the plugin gets a promise of each twin."""
    from mkdocs_llmstxt._internal import plugin

    @functools.wraps(inspect.unwrap(plugin._generate_page_markdown))
    def promise(html: str, **options: Any) -> Future[str]:
        return beside().submit(make, html, options)

    plugin._generate_page_markdown = promise  # type: ignore[assignment]


def end(pages: dict[str, Any]) -> None:
    """Fulfill the promises among what the plugin keeps of the pages."""
    for address, page in pages.items():
        pages[address] = page._replace(content=page.content.result())
