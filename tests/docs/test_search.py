"""What the search is given to read of a page."""

import json
import re
from html.parser import HTMLParser

from material.plugins.search.plugin import Parser

from scripts.pages import search
from tests.docs.pages import ROOT

PAGE = """<h1 id="sums">Sums</h1><p>A <code>sum</code>.</p>
<pre data-search-exclude=""><code><span class="k">if</span> a <span class="o">&lt;</span> 2:
    tl.load(a)</code></pre>
<svg class="chart" data-search-exclude=""><text>GB/s</text></svg>
<table data-search-exclude=""><tr><th>Where</th><th>ms</th></tr><tr><td>Windows</td><td>1.25</td></tr></table>
<dl><dt id="atomic">Atomic</dt><dd><p>Not interrupted.</p></dd></dl>"""


def test_listings_and_tables_are_bare_lines_and_drawings_nothing():
    light = search.lighten(PAGE)
    assert "<pre>if a &lt; 2:\n    tl.load(a)</pre>" in light
    assert "<pre>Where ms\nWindows\n</pre>" in light
    assert "GB/s" not in light and "1.25" not in light


def test_a_word_of_the_glossary_is_a_section():
    assert '<h3 id="atomic">Atomic</h3><dd>' in search.lighten(PAGE)


def test_a_row_whose_first_cell_has_an_id_is_a_section_and_what_follows_is_not_its_text():
    rows = """<tr>
<td id="tl.abs"><code>tl.abs</code></td>
<td>no <em>sign</em></td>
</tr><tr><td>tl.tan</td><td>an angle</td></tr>"""
    page = f'<h2 id="lanes">Lanes</h2><table data-search-exclude=""><tr><th>what</th></tr>{rows}</table><p>Then.</p>'
    parser = Parser()
    HTMLParser.feed(parser, search.lighten(page))
    lanes, entry = parser.data[1:]
    assert (entry.id, entry.title, "".join(entry.text)) == ("tl.abs", ["<code>", "tl.abs", "</code>"], "<p>no sign</p>")
    assert "".join(lanes.text) == "<pre>what\ntl.tan an angle\n</pre><p>Then.</p>"


def test_every_operation_of_the_language_is_a_section_named_after_it():
    rows = re.findall(r"^\| (.*`.*?) \| .* \|$", (ROOT / "docs/reference/language.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = [re.fullmatch(r".*`(tl\.\w+)\W.* \{ #\1 \}", row) for row in rows]
    assert len(rows) >= 50 and [row for row, name in zip(rows, named, strict=True) if not name] == []


def test_what_is_searched_leaves_the_index(tmp_path):
    entries = [
        {"location": "sums/", "title": "Sums", "text": "<p>A sum.</p> <pre>if a &lt; 2:\n\n    tl.load(a)</pre>  <pre>2³¹</pre>"},
        {"location": "rows/", "title": "Rows", "text": "<p>Rows.</p><pre>\n</pre>"},
    ]
    (tmp_path / "search").mkdir()
    index = tmp_path / "search" / "search_index.json"
    index.write_text(json.dumps({"config": {"lang": ["en"]}, "docs": entries}), encoding="utf-8")
    search.put_off(tmp_path)
    left = json.loads(index.read_text(encoding="utf-8"))
    assert left == {"config": {"lang": ["en"]}, "docs": []}
    book = json.loads(index.with_name("book.json").read_text(encoding="utf-8"))
    assert [entry["text"] for entry in book["docs"]] == ["<p>A sum.</p>", "<p>Rows.</p>"]
    assert book["listings"] == {"sums/": "if a < 2:\ntl.load(a)\n2³¹"}
