"""Old addresses: a page that went elsewhere leaves a file that leads there, and a section that went is listed for the browser.

`docs/redirects.tsv` has them, `old address<tab>new address`. Where the old one names a section (`course/masking/#cost`), the page
is still there, and `docs/assets/moved.js` looks the section up in `data/moved.json`.
"""

import html
from pathlib import Path, PurePosixPath

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="{target}">
<script>location.replace("{target}" + location.hash)</script>
<meta http-equiv="refresh" content="0; url={target}">
<p>This page is now <a href="{target}">{target}</a>.</p>
</html>
"""


def read(docs: Path) -> dict[str, str]:
    """The new address of each old one."""
    found: dict[str, str] = {}
    for number, line in enumerate((docs / "redirects.tsv").read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        old, tab, new = line.partition("\t")
        if not tab or not new or old in found:
            raise ValueError(f"redirects.tsv:{number}: expected a new old address, a tab and where it leads: {line!r}")
        found[old] = new
    return found


def pages(docs: Path) -> dict[str, str]:
    """Each old page's file, and the text that leads to the new one."""
    return {f"{old}index.html": lead(old, new) for old, new in read(docs).items() if "#" not in old}


def lead(old: str, new: str) -> str:
    target = html.escape("../" * len(PurePosixPath(old).parts) + new)
    return PAGE.format(title="This page has moved", target=target)


def sections(docs: Path) -> dict[str, str]:
    return {old: new for old, new in read(docs).items() if "#" in old}
