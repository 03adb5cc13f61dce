"""The map of the course: its parts and pages in the order of the navigation, with minutes, as a list that a page includes."""

import html
import re
from pathlib import Path
from typing import NamedTuple

from scripts import ROOT

ENTRY = re.compile(r'^( *)- (?:"([^"]+)"|([^:]+)):(?: (\S+\.md))?$')
SUBTITLE = re.compile(r"^subtitle: *(?:(\d+) min)?", re.MULTILINE)


class Page(NamedTuple):
    title: str
    address: str
    minutes: int | None


def course(root: Path = ROOT) -> dict[str, list[Page]]:
    """The pages of each part of the tab Course. A part is an entry of that tab that has entries of its own."""
    text = (root / "mkdocs.yml").read_text(encoding="utf-8")
    tab, parts, part = "", dict[str, list[Page]](), ""
    for line in re.search(r"^nav:\n((?: .*\n)+)", text, re.MULTILINE)[1].splitlines():  # type: ignore[index]
        found = ENTRY.match(line)
        if not found:
            raise ValueError(f"mkdocs.yml: the navigation has a line that this cannot read: {line!r}")
        indent, title, path = len(found[1]), found[2] or found[3], found[4]
        if indent == 2:
            tab = title
        elif tab == "Course" and not path:
            part = title
            parts[part] = []
        elif tab == "Course" and indent > 6:
            parts[part].append(Page(title, f"{path.removesuffix('.md')}/".replace("/index/", "/"), minutes(root / "docs" / path)))
    return parts


def minutes(page: Path) -> int | None:
    """What a page's front matter says; a lab has none, because its time is the reader's own."""
    found = SUBTITLE.search(page.read_text(encoding="utf-8").split("\n---\n")[0]) if page.exists() else None
    return int(found[1]) if found and found[1] else None


def element_html(parts: dict[str, list[Page]], to_root: str) -> str:
    return f'<div class="bw-map" id="course-map">{"".join(part_html(*part, to_root) for part in parts.items())}</div>\n'


def part_html(title: str, listed: list[Page], to_root: str) -> str:
    told = sum(page.minutes or 0 for page in listed)
    total = f" <small>{told} min</small>" if told else ""
    lines = "".join(f"<li>{page_html(page, to_root)}</li>" for page in listed)
    return f'<section><h3 id="map-{slug(title)}">{html.escape(title)}{total}</h3><ol>{lines}</ol></section>'


def page_html(page: Page, to_root: str) -> str:
    told = f"{page.minutes} min" if page.minutes else "lab" if page.address.startswith("labs/") else ""
    link = f'<a class="bw-page-link" href="{to_root}{page.address}">{html.escape(page.title)}</a>'
    return f"{link} <small>{told}</small>" if told else link


def slug(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")
