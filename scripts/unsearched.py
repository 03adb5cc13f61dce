"""A Markdown extension: the search finds the prose, and passes over listings, drawings, recorded runs and tables.

The search plugin leaves out any element with `data-search-exclude`. Here it goes on elements that hold none of their own
kind, because the plugin stops leaving out at the first end tag of that name.
"""

import re

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

ELEMENTS = (
    *("pre", "svg", "table", 'details class="data"', 'figure class="stepper-figure"', 'p class="files"', 'a class="program"'),
    'figure class="explorer-figure picker-figure"',
)
PASSED_OVER = re.compile(rf"<({'|'.join(ELEMENTS)})(?=[\s>])")
AFTER_EVERYTHING = 0


class PassOver(Postprocessor):
    def run(self, text: str) -> str:
        return PASSED_OVER.sub(r'<\1 data-search-exclude=""', text)


class Unsearched(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.postprocessors.register(PassOver(md), "unsearched", AFTER_EVERYTHING)


def makeExtension(**options: object) -> Unsearched:
    return Unsearched(**options)
