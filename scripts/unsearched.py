"""A Markdown extension: the search passes over listings, drawings, recorded runs and tables of numbers, and finds the prose.

The search plugin leaves out any element with `data-search-exclude`. It stands on elements that hold none of their own kind,
because the plugin stops leaving out at the first end tag of that name.
"""

import re

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

PASSED_OVER = re.compile(r'<(?=pre\b|svg\b|details class="data"|figure class="stepper-figure")(\w+)(?![^>]*data-search-exclude)')
AFTER_EVERYTHING = 0


class PassOver(Postprocessor):
    def run(self, text: str) -> str:
        return PASSED_OVER.sub(r'<\1 data-search-exclude=""', text)


class Unsearched(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.postprocessors.register(PassOver(md), "unsearched", AFTER_EVERYTHING)


def makeExtension(**options: object) -> Unsearched:
    return Unsearched(**options)
