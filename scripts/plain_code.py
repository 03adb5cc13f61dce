"""A Markdown extension: code carries no element around what has the color of plain code.

Names, operators and blanks are half of the elements of a page with programs, and look the same without them.
"""

import re

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

PLAIN = re.compile(r'<span class="(?:n|o|w)">([^<]*)</span>')
AFTER_EVERYTHING = -1


class Plain(Postprocessor):
    def run(self, text: str) -> str:
        return PLAIN.sub(r"\1", text)


class PlainCode(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.postprocessors.register(Plain(md), "plain_code", AFTER_EVERYTHING)


def makeExtension(**options: object) -> PlainCode:
    return PlainCode(**options)
