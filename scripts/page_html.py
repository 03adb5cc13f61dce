"""A Markdown extension for what the HTML of a page should carry, and what it need not.

The search finds the prose, and passes over listings, drawings with what stands under them, recorded runs and tables: its plugin
leaves out any element with `data-search-exclude`. Here it goes on elements that hold none of their own kind, because the plugin
stops leaving out at the first end tag of that name. So `search_less`, which main.py calls, can cut all of it from what the plugin
is given to read: it is most of a page's elements.

Code carries no element around what has the color of plain code. Names, operators and blanks are half of the elements of a
page with programs, and look the same without them.

A drawing or a table that scripts/prepare.py made is put aside whole, before Markdown looks through all its elements for text.
"""

import re
from html.parser import HTMLParser

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor

UNSEARCHED = (
    *("pre", "svg", "figcaption", "table", 'details class="data"', 'figure class="stepper-figure"', 'p class="files"'),
    *('a class="program"', 'figure class="explorer-figure picker-figure"'),
)
PASSED_OVER = re.compile(rf"<({'|'.join(UNSEARCHED)})(?=[\s>])")
LEFT_OUT = re.compile(r'<([a-z]+)(?: class="[^"]*")? data-search-exclude="".*?</\1>', re.DOTALL)
MADE = re.compile(r'^<(figure|div) (?:class="(?:chart|stepper-figure|scroll)").*?</\1>$', re.DOTALL | re.MULTILINE)
PLAIN = re.compile(r'<span class="(?:n|o|w)">([^<]*)</span>')
AFTER_FENCES, AFTER_EVERYTHING = 22, 0


class PutAside(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        text = MADE.sub(lambda made: "\n" + self.md.htmlStash.store(made[0] + "\n") + "\n", "\n".join(lines))
        return text.split("\n")


class Finish(Postprocessor):
    def run(self, text: str) -> str:
        return PLAIN.sub(r"\1", PASSED_OVER.sub(r'<\1 data-search-exclude=""', text))


class PageHtml(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.preprocessors.register(PutAside(md), "made", AFTER_FENCES)
        md.postprocessors.register(Finish(md), "page_html", AFTER_EVERYTHING)


def makeExtension(**options: object) -> PageHtml:
    return PageHtml(**options)


def search_less() -> None:
    """Give the search's parser only what it finds something in."""
    from material.plugins.search.plugin import Parser

    Parser.feed = lambda parser, html: HTMLParser.feed(parser, LEFT_OUT.sub("", html))
