"""Find measured numbers that somebody typed by hand.

A number is a digit or a number word; it is measured when it stands with a measured unit (a rate, a duration, a percentage,
a factor) or a measured quantity (registers, spills, occupancy, bandwidth...). A number that a macro fills in is bound and passes.
"""

from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.docs import passages
from tests.docs.number_rules import CELL_NUMBER, DECIMAL, MEASURED_HEAD, RULES, STATED_UNIT
from tests.docs.pages import INCLUDE, ROOT, name_of, page_files
from tests.docs.passages import BOUND, CODE, Passage


class Finding(NamedTuple):
    page: str
    line: int
    phrase: str
    why: str
    context: str
    at: int = 0

    def __str__(self) -> str:
        around = self.context[max(0, self.at - 40) : self.at + len(self.phrase) + 40]
        return f"{self.page}:{self.line}: {self.why} typed by hand: {self.phrase!r} in {around!r}"


def one_line(text: str) -> str:
    return " ".join(text.split())


def flatten(passage: Passage) -> tuple[str, Callable[[int], int]]:
    """The passage on one line, and the way from an offset in it back to a line of the source."""
    lines = [one_line(line) for line in passage.text.split("\n")]
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1 if line else 0
    return " ".join(line for line in lines if line), lambda offset: passage.line + bisect_right(starts, offset) - 1


def findings_in(page: str, passage: Passage) -> list[Finding]:
    text, line_at = flatten(passage)
    found: dict[range, Finding] = {}
    for why, pattern, unless in RULES:
        for match in pattern.finditer(text):
            span = range(*match.span())
            known = any(span.start < other.stop and other.start < span.stop for other in found)
            if not known and not (unless and unless.search(text[: span.start])):
                at = len(show(text[: span.start]))
                found[span] = Finding(page, line_at(span.start), show(match[0].strip()), why, show(text), at)
    return list(found.values()) or cell_findings(page, passage, text)


def cell_findings(page: str, passage: Passage, text: str) -> list[Finding]:
    """A table's cell holds a number, and its column or row says that it is measured."""
    for head in passage.heads:
        if MEASURED_HEAD.search(one_line(head)) and (match := CELL_NUMBER.search(text)) and head != text:
            whole = f"{one_line(head)}: {text}"
            return [Finding(page, passage.line, match[0].strip(), "a measured quantity in a table", show(whole))]
    if passage.heads and STATED_UNIT.search(one_line(passage.near)) and (match := DECIMAL.fullmatch(text)):
        return [Finding(page, passage.line, match[0], "a number of a table whose unit is measured", show(text))]
    return []


def show(text: str) -> str:
    return text.replace(BOUND, "[=…=]").replace(CODE, "`…`")


def included_markdown(page: Path, root: Path) -> list[Path]:
    """Markdown from elsewhere that a page includes, such as the change log."""
    targets = [found["target"] for line in page.read_text(encoding="utf-8").splitlines() if (found := INCLUDE.match(line))]
    return [root / target for target in targets if target.endswith(".md") and not target.startswith("docs/")]


def sources(root: Path = ROOT) -> dict[Path, Callable[[str], list[Passage]]]:
    """Every file that people write and readers read, with the way to read it."""
    pages = page_files(root)
    found: dict[Path, Callable[[str], list[Passage]]] = {root / "README.md": passages.markdown}
    found |= dict.fromkeys([*pages, *(path for page in pages for path in included_markdown(page, root))], passages.markdown)
    found |= dict.fromkeys(sorted((root / "docs" / "assets").rglob("*.svg")), passages.svg)
    found |= dict.fromkeys(sorted((root / "docs" / "overrides").rglob("*.html")), passages.template)
    found |= dict.fromkeys(sorted((root / "docs" / "labs").glob("*.py")), passages.lab)
    found |= dict.fromkeys(sorted((root / "snippets").glob("*/questions.toml")), passages.questions)
    found |= dict.fromkeys(sorted((root / "docs" / "claims").glob("*.toml")), passages.claims)
    for folder in ("kernels", "snippets"):
        found |= dict.fromkeys(sorted((root / folder).rglob("*.py")), passages.python)
    return {path: read for path, read in found.items() if path.exists()}


def findings(root: Path = ROOT) -> list[Finding]:
    return [
        each
        for path, read in sources(root).items()
        for passage in read(path.read_text(encoding="utf-8"))
        for each in findings_in(name_of(path, root), passage)
    ]


class Allowed(NamedTuple):
    page: str
    phrase: str
    reason: str = ""

    def covers(self, found: Finding) -> bool:
        return self.page == found.page and found.phrase in self.phrase and self.phrase in found.context


def read_allowed(text: str) -> list[Allowed]:
    """Lines of `page | exact phrase | reason`; empty lines and those that begin with # say nothing."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [Allowed(*(part.strip() for part in line.split(" | ", 2))) for line in lines]


def judge(root: Path, allowed: list[Allowed]) -> list[str]:
    """What is typed by hand and not allowed, and what is allowed and no longer there."""
    found = findings(root)
    typed = [str(each) for each in found if not any(entry.covers(each) for entry in allowed)]
    stale = [
        f"{entry.page}: the allowed phrase no longer occurs as a finding: {entry.phrase!r}"
        for entry in allowed
        if not any(entry.covers(each) for each in found)
    ]
    reasonless = [f"{entry.page}: no reason is given for {entry.phrase!r}" for entry in allowed if not entry.reason]
    return typed + stale + reasonless
