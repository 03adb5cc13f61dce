"""What the search reads of a page: its prose, and apart from that the lines of its listings and tables.

Most elements of a page are in its listings, drawings and tables, and the search's plugin would look at each. So `search_less`,
which main.py calls, gives it a listing or a table as bare lines, and nothing of the rest that page_html.py marks. A word of the
glossary becomes a section of its own, and so does a row of a table whose first cell has an id.

The theme reads the index on every page. `put_off` leaves it empty, and puts what it held into a file that docs/assets/search/
loads with the first query: the prose, and apart from it the lines of listings and tables.
"""

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

MARKED = re.compile(r'<([a-z]+)(?: class="[^"]*")? data-search-exclude="".*?</\1>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")
CELL = re.compile(r"</t[dh]>")
LISTING = re.compile(r"<pre>(.*?)</pre>", re.DOTALL)
DEFINED = re.compile(r'<dt id="([^"]+)">(.*?)</dt>', re.DOTALL)
ENTRY = re.compile(r'<tr>\s*<td id="([^"]+)">(.*?)</td>\s*<td>(.*?)</td>\s*</tr>', re.DOTALL)


def bare(marked: re.Match[str]) -> str:
    html, name = marked[0], marked[1]
    if name == "pre":
        return f"<pre>{TAG.sub('', html)}</pre>"
    if name == "table":
        entries = [f'<h3 id="{at}">{term}</h3><p>{said.strip()}</p>' for at, term, said in ENTRY.findall(html)]
        rows = [TAG.sub("", CELL.sub(" ", row)).split() for row in ENTRY.sub("", html).split("</tr>")]
        lines = (" ".join(word for word in row if re.search(r"[^\W\d]", word)) for row in rows)
        # What stands after an element with a heading in it belongs again to the section around that.
        return "<pre>" + "\n".join(dict.fromkeys(lines)) + "</pre>" + (f"<div>{''.join(entries)}</div>" if entries else "")
    return ""


def lighten(html: str) -> str:
    return DEFINED.sub(r'<h3 id="\1">\2</h3>', MARKED.sub(bare, html))


def search_less() -> None:
    """Give the search's parser only what it finds something in."""
    from material.plugins.search.plugin import Parser

    Parser.feed = lambda parser, html: HTMLParser.feed(parser, lighten(html))


def put_off(site: Path) -> None:
    index_file = site / "search" / "search_index.json"
    index = json.loads(index_file.read_text(encoding="utf-8"))
    listings = {}
    for entry in index["docs"]:
        lines = [line.strip() for listing in LISTING.findall(entry["text"]) for line in unescape(listing).splitlines()]
        if any(lines):
            listings[entry["location"]] = "\n".join(line for line in lines if line)
        entry["text"] = LISTING.sub("", entry["text"]).strip()
    book = {"docs": index["docs"], "listings": listings}
    for path, data in ((index_file, index | {"docs": []}), (index_file.with_name("book.json"), book)):
        path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
