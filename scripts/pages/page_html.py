"""A Markdown extension for what the HTML of a page should carry, and what it need not.

The search finds the prose, and passes over listings, drawings with what stands under them, recorded runs and tables: its plugin
leaves out any element with `data-search-exclude`. Here it goes on elements that hold none of their own kind, because the plugin
stops leaving out at the first end tag of that name.

Code carries no element around what has the color of plain code. Names, operators and blanks are half of the elements of a
page with programs, and look the same without them.
"""

import re

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

UNSEARCHED = (
    *("pre", "svg", "figcaption", "table", 'details class="data"', 'figure class="stepper-figure"', 'p class="files"'),
    *('a class="program"', 'figure class="explorer-figure picker-figure"'),
)
PASSED_OVER = re.compile(rf"<({'|'.join(UNSEARCHED)})(?=[\s>])")
PLAIN = re.compile(r'<span class="(?:n|o|w)">([^<]*)</span>')
AFTER_EVERYTHING = 0


class Finish(Postprocessor):
    def run(self, text: str) -> str:
        return PLAIN.sub(r"\1", PASSED_OVER.sub(r'<\1 data-search-exclude=""', text))


class PageHtml(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.postprocessors.register(Finish(md), "page_html", AFTER_EVERYTHING)


def makeExtension(**options: object) -> PageHtml:
    return PageHtml(**options)
