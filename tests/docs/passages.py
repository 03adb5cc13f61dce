"""What a reader reads in a source before macros expand: paragraphs, cells, captions, alternative texts, docstrings."""

import ast
import html
import inspect
import io
import re
import tokenize
import tomllib
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import NamedTuple

import jinja2
import yaml
from jinja2 import meta

from tests.docs.pages import INCLUDE, fences

BOUND = "\ue000"  # stands for a figure that the build fills in
CODE = "\ue001"  # stands for a piece of code
BREAK = "\f"  # ends a passage within a line
READABLE = ("alt", "title", "aria-label", "aria-description", "summary", "data-caption", "caption", "label", "content")
INLINE_TAGS = re.compile(r"a|abbr|b|bd[io]|cite|del|dfn|em|i|ins|kbd|mark|q|s|samp|small|span|strong|su[bp]|time|tspan|u|var|wbr")
PLAIN_FENCES = {"", "text", "txt", "plain", "plaintext", "output", "console", "none"}
TAG = re.compile(r"</?([a-zA-Z][\w-]*)((?:\s+[^<>]*)?)/?>")
ATTRIBUTE = re.compile(r'([\w-]+)\s*=\s*("[^"]*"|\'[^\']*\')', re.DOTALL)
NUMERIC_CODE = re.compile(r"[~≈<>]?\s*[\d.,]*\d\s*(?:[a-zµμ×%/]{1,7}(?:/s)?)?", re.IGNORECASE)
TABLE_RULE = re.compile(r"[ \t]*\|?[ \t:]*-+[-|: \t]*")
OPENING = re.compile(r"[ \t]*(?:[-*+][ \t]+|\d+[.)][ \t]+|#{1,6}[ \t]+|(?:!!!|\?\?\?|===)[!+]?[ \t]+|\*\[[^\]]*\]:)")
MACROS = jinja2.Environment(
    variable_start_string="[=", variable_end_string="=]", block_start_string="[%", block_end_string="%]",
    comment_start_string="[#", comment_end_string="#]",
)  # fmt: skip


class Passage(NamedTuple):
    line: int
    text: str
    heads: tuple[str, ...] = ()  # of a table's cell: what its column and row are about
    near: str = ""  # of a table's cell: the paragraphs and captions around the table


def blank(found: re.Match[str]) -> str:
    """Nothing, in as many lines."""
    return "\n" * found[0].count("\n")


def normal(text: str) -> str:
    """One spelling for each sign: ordinary spaces and digits, one micro sign, one multiplication sign."""
    text = unicodedata.normalize("NFKC", text).replace("\u03bc", "µ")
    text = re.sub("[\u00ad\u200b-\u200d\u2060\ufeff]", "", text)
    text = re.sub("[✕✖⨯⨉]", "×", text)
    return re.sub("[\u2010\u2011\u2212]", "-", text)


def bind(text: str) -> str:
    """Put BOUND in place of each macro that takes its figure from the data, and the literal in place of one that does not."""
    constants = dict(re.findall(r"\[%-?\s*set\s+(\w+)\s*=\s*([\d.]+|\"[^\"]*\"|'[^']*')\s*-?%\]", text))

    def value(found: re.Match[str]) -> str:
        try:
            names = meta.find_undeclared_variables(MACROS.parse(found[0]))
        except jinja2.TemplateSyntaxError:
            names = {"unknown"}
        if names - set(constants):
            return blank(found) + BOUND
        literal = re.sub(r"\w+", lambda word: constants.get(word[0], word[0]), found[1])
        return blank(found) + " ".join(re.sub(r"[|\"'()]", " ", literal).split())

    text = re.sub(r"\[=(.*?)=\]", value, text, flags=re.DOTALL)
    return re.sub(r"\[%.*?%\]", blank, text, flags=re.DOTALL)


def front_matter(text: str) -> tuple[list[Passage], str]:
    found = re.match(r"---\n(.*?\n)---\n", text, re.DOTALL)
    if not found:
        return [], text
    passages: list[Passage] = []

    def walk(node: yaml.Node, key: str) -> None:
        if isinstance(node, yaml.MappingNode):
            for name, child in node.value:
                walk(child, str(name.value))
        elif isinstance(node, yaml.SequenceNode):
            for child in node.value:
                walk(child, key)
        else:
            passages.append(Passage(node.start_mark.line + 2, normal(f"{key}: {node.value}")))

    if (tree := yaml.compose(found[1], Loader=yaml.SafeLoader)) is not None:
        walk(tree, "")
    return passages, blank(found) + text[found.end() :]


class Reader:
    """Cuts Markdown into passages, keeping every line where it stood."""

    def __init__(self, text: str):
        self.passages, text = front_matter(text)
        text = self.without_fences(bind(text))
        text = re.sub(r"<!--.*?-->", blank, text, flags=re.DOTALL)
        text = re.sub(r"<(script|style|pre)\b.*?</\1>", blank, text, flags=re.DOTALL | re.IGNORECASE)
        text = self.sub(r"<table\b.*?</table>", self.html_table, text, re.DOTALL | re.IGNORECASE)
        text = re.sub(r"<code>(.*?)</code>", lambda found: f"`{html.unescape(found[1])}`", text, flags=re.DOTALL)
        text = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", code_span, text, flags=re.DOTALL)
        text = re.sub(r"<(?:https?|mailto):[^<>\s]*>|(?<!\()\bhttps?://[^\s)<>\"]+", "", text)
        text = self.sub(TAG.pattern, self.tag, text, re.DOTALL)
        text = self.links(html.unescape(text))
        text = self.sub(r"\{:?([^{}]*)\}", self.attribute_list, text)
        self.lines(normal(emphasis(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text))))

    def sub(self, pattern: str, replace, text: str, flags: int = 0) -> str:
        """`re.sub` whose function also learns the line."""
        return re.sub(pattern, lambda found: replace(found, text.count("\n", 0, found.start()) + 1), text, flags=flags)

    def add(self, line: int, text: str, *, aside: bool = False) -> None:
        text = normal(html.unescape(text)) if aside else text
        if text.strip():
            self.passages.append(Passage(line, text))

    def without_fences(self, text: str) -> str:
        lines = text.splitlines()
        for fence in fences(text):
            for _, value in ATTRIBUTE.findall(fence.info):
                self.add(fence.line, value[1:-1], aside=True)
            if fence.language in PLAIN_FENCES:
                for number, line in enumerate(fence.body, fence.line + 1):
                    if not INCLUDE.match(line):
                        self.add(number, line, aside=True)
            lines[fence.line - 1 : fence.end] = [""] * len(lines[fence.line - 1 : fence.end])
        return "\n".join("" if INCLUDE.match(line) else line for line in lines)

    def tag(self, found: re.Match[str], line: int) -> str:
        for name, value in ATTRIBUTE.findall(found[2]):
            if name.lower() in READABLE:
                self.add(line, value[1:-1], aside=True)
        name = found[1].lower()
        return blank(found) + ("" if INLINE_TAGS.fullmatch(name) else " " if name == "br" else BREAK)

    def links(self, text: str) -> str:
        target = r"\(\s*<?[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)?>?(\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"

        def image(found: re.Match[str], line: int) -> str:
            self.add(line, found[1], aside=True)
            self.add(line, found[2] or "", aside=True)
            return blank(found)

        def link(found: re.Match[str], line: int) -> str:
            self.add(line, found[2] or "", aside=True)
            return found[1]

        def definition(found: re.Match[str], line: int) -> str:
            self.add(line, found[1] or "", aside=True)
            return ""

        text = self.sub(r"!\[([^\]]*)\]" + target, image, text)
        text = self.sub(r"!\[([^\]]*)\](?:\[([^\]]*)\])", image, text)
        text = re.sub(r"^[ \t]*\[\^[^\]]+\]:", BREAK, text, flags=re.MULTILINE)
        text = re.sub(r"\[\^[^\]]+\]", "", text)
        text = self.sub(r"^[ \t]*\[[^\]]+\]:[ \t]*\S+([ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?[ \t]*$", definition, text, re.MULTILINE)
        text = self.sub(r"\[([^\[\]]*)\]" + target, link, text)
        return re.sub(r"\[([^\[\]]+)\]\[[^\[\]]*\]", r"\1", text)

    def attribute_list(self, found: re.Match[str], line: int) -> str:
        if not re.fullmatch(r"\s*(?:(?:[.#][\w-]+|[\w-]+=(?:\"[^\"]*\"|'[^']*'|[^\s\"']+))\s*)+", found[1]):
            return found[0]
        for name, value in ATTRIBUTE.findall(found[1]):
            if name in READABLE:
                self.add(line, value[1:-1], aside=True)
        return blank(found)

    def html_table(self, found: re.Match[str], line: int) -> str:
        parser = TableParser()
        parser.feed(found[0])
        rows = [[(line + at, normal(emphasis(text.replace(f"{BREAK}", " ")))) for at, text in row] for row in parser.rows]
        self.table(rows, normal(parser.caption))
        return BREAK + blank(found)

    def table(self, rows: list[list[tuple[int, str]]], near: str) -> None:
        head = [text.strip() for _, text in rows[0]] if rows else []
        for number, row in enumerate(rows):
            for column, (line, text) in enumerate(row):
                heads = () if number == 0 else (head[column] if column < len(head) else "", row[0][1].strip() if column else "")
                if text.strip():
                    self.passages.append(Passage(line, text.strip(), heads, near))

    def lines(self, text: str) -> None:
        """Split what is left into paragraphs, items, headings and tables."""
        lines = [re.sub(r"^[ \t]*(?:>[ \t]?)+", "", line) for line in text.split("\n")]
        paragraph: list[str] = []
        start, at = 1, 0

        def flush() -> str:
            nonlocal paragraph
            joined, paragraph = "\n".join(paragraph), []
            line = start
            for part in joined.split(BREAK):
                self.add(line, part)
                line += part.count("\n")
            return joined

        last = ""
        while at < len(lines):
            line = lines[at]
            if "|" in line and "|" in "".join(lines[at + 1 : at + 2]) and TABLE_RULE.fullmatch(lines[at + 1]):
                above = flush() or last
                stop = at + 2
                while stop < len(lines) and "|" in lines[stop]:
                    stop += 1
                below = " ".join(lines[stop : stop + 3])
                rows = [[(n + 1, cell) for cell in cells_of(lines[n])] for n in (at, *range(at + 2, stop))]
                self.table(rows, f"{above} {BREAK} {below}")
                at, start, last = stop, stop + 1, ""
                continue
            definition = re.match(r"[ \t]*:[ \t]+", line)
            if definition and (paragraph or last):
                if not paragraph:
                    paragraph, start = last.split("\n"), at - last.count("\n")
                paragraph[-1] += ":"
                paragraph.append(line[definition.end() :])
            elif not line.strip() or re.fullmatch(r"[ \t]*(?:-{3,}|={3,}|\*{3,})[ \t]*", line):
                last = flush() or last
                start = at + 2
            else:
                opening = OPENING.match(line)
                if opening:
                    flush()
                    start = at + 1
                paragraph.append(line[opening.end() :] if opening else line)
                if opening and line.lstrip().startswith(("#", "!!!", "???", "===")):
                    last = flush()
                    start = at + 2
            at += 1
        flush()


def code_span(found: re.Match[str]) -> str:
    """Code stays out of sight, but a bare number is a number in any face."""
    content = found[2].strip()
    return content if NUMERIC_CODE.fullmatch(content) else CODE + blank(found)


def emphasis(text: str) -> str:
    text = re.sub(r"\*{2,3}|~~|\^\^|(?<!=)==(?!=)", "", text)
    text = re.sub(r"(?<![\w*])\*(?=\S)([^*\n]+?(?:\n[^*\n]+?)?)(?<=\S)\*(?!\*)", r"\1", text)
    return re.sub(r"(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)", "", text)


def cells_of(line: str) -> list[str]:
    return [cell.replace("\\|", "|").replace(BREAK, " ") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


class TableParser(HTMLParser):
    """The cells of an HTML table, each with its line within the table."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[tuple[int, str]]] = []
        self.caption = ""
        self.inside = ""

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows = self.rows or [[]]
            self.rows[-1].append((self.getpos()[0] - 1, ""))
        if tag in ("td", "th", "caption"):
            self.inside = tag

    def handle_endtag(self, tag):
        if tag in ("td", "th", "caption", "tr"):
            self.inside = ""

    def handle_data(self, data):
        if self.inside == "caption":
            self.caption += data
        elif self.inside:
            line, text = self.rows[-1][-1]
            self.rows[-1][-1] = (line, text + data)


def markdown(text: str) -> list[Passage]:
    return Reader(text).passages


def template(text: str) -> list[Passage]:
    """A theme's template: its own macros are bound, the rest reads as a page."""
    text = re.sub(r"\{\{.*?\}\}", lambda found: BOUND + blank(found), text, flags=re.DOTALL)
    text = re.sub(r"\{[%#].*?[%#]\}", blank, text, flags=re.DOTALL)
    return markdown(text)


def svg(text: str) -> list[Passage]:
    """Titles, descriptions, labels and words of a drawing."""
    found = []
    for element in ElementTree.fromstring(text).iter():
        words = [value for name, value in element.attrib.items() if name in READABLE]
        if str(element.tag).rpartition("}")[2] in ("title", "desc", "text"):
            words.append("".join(element.itertext()))
        found += [Passage(text.count("\n", 0, max(text.find(w.strip()), 0)) + 1, normal(w)) for w in words if w.strip()]
    return found


def python(text: str) -> list[Passage]:
    """Docstrings, and comments, which pages show."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            string = node.body[0]
            prose = markdown(inspect.cleandoc(ast.get_docstring(node, clean=False) or ""))
            found += [passage._replace(line=passage.line + string.lineno - 1) for passage in prose]
    return found + list(comments(text))


def comments(text: str) -> Iterator[Passage]:
    """Neighboring comment lines read as one passage."""
    start, words = 0, []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not re.match(r"#>|# -+8<-|# (?:needs|counters): ", token.string):
            if not words or token.start[0] != start + len(words):
                yield from ([Passage(start, "\n".join(words))] if words else [])
                start, words = token.start[0], []
            words.append(normal(re.sub(r"`[^`]+`", CODE, token.string.lstrip("# "))))
    if words:
        yield Passage(start, "\n".join(words))


def questions(text: str) -> list[Passage]:
    """The strings of a lesson's questions, at the lines where they stand."""
    found: list[Passage] = []

    def walk(value: object) -> None:
        if isinstance(value, dict | list):
            for part in value.values() if isinstance(value, dict) else value:
                walk(part)
        else:
            line = text.count("\n", 0, text.find(str(value))) + 1
            found.extend(passage._replace(line=line) for passage in markdown(str(value)))

    walk(tomllib.loads(text))
    return found


def claims(text: str) -> list[Passage]:
    """Of a page's claims what is ours: the sentences and the conditions. What others say has numbers of their own."""
    lines = text.split("\n")
    found = []
    for claim in tomllib.loads(text)["claims"]:
        start = next(at for at, line in enumerate(lines, 1) if line == f'id = "{claim["id"]}"')
        found += [Passage(start, bind(claim[field])) for field in ("says", "if") if field in claim]
    return found


def lab(text: str) -> list[Passage]:
    """The Markdown cells of a lab's source, at the lines where they stand."""
    prose, lines = False, []
    for line in text.splitlines():
        prose = line.startswith("# %% [markdown]") if line.startswith("# %%") else prose
        lines.append(line.removeprefix("#").removeprefix(" ") if prose and not line.startswith("# %%") else "")
    return markdown("\n".join(lines))
