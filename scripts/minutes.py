"""Say how long each page takes to read, by what stands in the built site, and write it into the page's head.

    python scripts/minutes.py                    every lesson and deeper page of site/, in order of the navigation
    python scripts/minutes.py course/masking     these alone
    python scripts/minutes.py --write            put the minutes into the front matter, as `subtitle: 9 min · start`

Minutes are words / 200 + lines of code / 20. Words are those of the prose, of captions, of questions with all their answers
and of what is folded; not those of drawings, of a widget's controls or of tables that records fill in. Lines of code and of
output count where they are seen at once; a solution's do not. Build the site first (`make site`).
"""

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).resolve().parent.parent
WORDS_A_MINUTE, LINES_A_MINUTE = 200, 20
KINDS = ("course", "deeper")
# What is no reading: drawings, controls and recorded values, tables from records, the links to files, the line about versions.
APART = "svg, script, style, details.data, div.scroll, .program, .checked, .files, .headerlink, .bw-bar, button, select, label"
APART += ", .quiz-controls"
WIDGET = re.compile(r"^(?!blockwise-question$)[a-z]+(-[a-z]+)+$")  # of a custom element but a question only the caption is read
SUBTITLE = re.compile(r"^subtitle: *(\d+) min(?: · (.+))?$", re.MULTILINE)


class Reading(NamedTuple):
    words: int
    lines: int

    @property
    def minutes(self) -> float:
        return self.words / WORDS_A_MINUTE + self.lines / LINES_A_MINUTE


def reading(article: Tag) -> Reading:
    """What one reads of a page's article, which loses here what is none of that."""
    lines = 0
    for part in article.select(APART):
        part.decompose()
    for element in [found for found in article.find_all(True) if not found.decomposed and WIDGET.match(found.name)]:
        if not element.decomposed:
            captions = [caption.get_text(" ") for caption in element.select("figcaption")]
            element.replace_with(" ".join(captions))
    for listing in article.find_all("pre"):
        if listing.find_parent("details") is None:
            lines += sum(1 for line in listing.get_text().strip("\n").splitlines() if line.strip())
        listing.decompose()
    return Reading(len(article.get_text(" ").split()), lines)


def read(address: str, site: Path = ROOT / "site") -> Reading:
    """Of the page at an address such as `course/masking`."""
    soup = BeautifulSoup((site / address / "index.html").read_text(encoding="utf-8"), "html.parser")
    article = soup.select_one("article.md-content__inner") or soup.select_one("article")
    assert article is not None, f"{address} holds no article"
    return reading(article)


def addresses(root: Path = ROOT) -> list[str]:
    """The pages whose time is told, as mkdocs.yml orders them."""
    listed = re.findall(rf"((?:{'|'.join(KINDS)})/[\w-]+)\.md", (root / "mkdocs.yml").read_text(encoding="utf-8"))
    return list(dict.fromkeys(listed))


def said(address: str, root: Path = ROOT) -> tuple[int, str] | None:
    """The minutes and the level that a page's front matter gives."""
    found = SUBTITLE.search((root / "docs" / f"{address}.md").read_text(encoding="utf-8").split("\n---\n")[0])
    return (int(found[1]), found[2] or "") if found else None


def write(address: str, minutes: int, root: Path = ROOT) -> None:
    path = root / "docs" / f"{address}.md"
    head, rest = path.read_text(encoding="utf-8").split("\n---\n", 1)
    found = SUBTITLE.search(head)
    line = f"subtitle: {minutes} min" + (f" · {found[2]}" if found and found[2] else "")
    head = head.replace(found[0], line) if found else f"{head}\n{line}"
    path.write_text(f"{head}\n---\n{rest}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    for address in given.pages or addresses():
        found = read(address)
        print(f"{address:45} {found.minutes:5.1f} min  {found.words:5} words  {found.lines:4} lines")
        if given.write:
            write(address, round(found.minutes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
