"""A Markdown extension for what the HTML of a page should carry, and what it need not.

The plugin of the search leaves out any element with `data-search-exclude`: here drawings with what stands under them, recorded
runs, listings and tables. It stops leaving out at the first end tag of that name, so only elements that hold none of their own
kind are marked. search.py cuts them from what the plugin reads, or makes them bare.

Code carries no element around what has the color of plain code. Names, operators and blanks are half of the elements of a
page with programs, and look the same without them.

A drawing or a table that scripts/prepare.py made is put aside whole, before Markdown looks through all its elements for text.
"""

import re

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor

UNSEARCHED = (
    *("pre", "svg", "figcaption", "table", 'details class="data"', 'figure class="stepper-figure"', 'p class="files"'),
    *('a class="program"', 'details class="answer"', 'figure class="explorer-figure picker-figure"'),
)
PASSED_OVER = re.compile(rf"<({'|'.join(UNSEARCHED)})(?=[\s>])")
MADE = re.compile(
    r'^<(figure|div) (?:class="(?:chart(?: [\w-]+)*|stepper-figure|scroll|questions)").*?</\1>$', re.DOTALL | re.MULTILINE
)
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
