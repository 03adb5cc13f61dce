"""What readers type, and what the search must find for it: queries.tsv says which headings."""

import csv
import html
import json
import re
from pathlib import Path

import pytest

from scripts.pages import messages

QUERIES = Path(__file__).with_name("queries.tsv")
# Put a stranger into the list of results, and wait until the theme has written the list anew.
ASK = """async (queries) => {
  const field = document.querySelector('[data-md-component=search-query]');
  const list = document.querySelector('.md-search-result__list');
  const found = [];
  field.focus();
  for (const query of queries) {
    list.innerHTML = '<li id="before">';
    field.value = query;
    field.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }));
    while (document.getElementById('before')) await new Promise((again) => setTimeout(again, 5));
    found.push([...list.children].slice(0, 3).map((result) => {
      const shown = [...result.querySelectorAll('h1, h2')].filter((heading) => !heading.closest('details:not([open])'));
      return shown.map((heading) => heading.textContent);
    }));
  }
  return found;
}"""


@pytest.fixture
def ask(fresh, site):
    """Ask on one page, where nothing may be complained of and no other host be called."""
    page = fresh(None)
    complaints, called = [], []
    page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: called.append(request.url))
    page.goto(site.url)
    page.evaluate(ASK, ["kernel"])
    page.wait_for_selector(".md-search-result__item", state="attached")  # the book has come
    yield lambda *queries: dict(zip(queries, page.evaluate(ASK, queries), strict=True))
    assert complaints == []
    assert [url for url in called if not url.startswith(site.url)] == []


def test_a_query_finds_what_answers_it(ask):
    with QUERIES.open(encoding="utf-8", newline="") as file:
        queries = list(csv.reader(file, delimiter="\t"))[1:]
    found = ask(*dict.fromkeys(query for query, _ in queries))  # the theme asks for nothing twice in a row
    missed = {
        query: found[query]
        for query, wanted in queries
        if not any(re.search(wanted, heading, re.IGNORECASE) for result in found[query] for heading in result)
    }
    assert missed == {}


def test_an_entry_of_the_reference_comes_first_for_its_name(site, fresh):
    book = json.loads((site.folder / "search" / "book.json").read_text(encoding="utf-8"))
    entries = {}
    for entry in book["docs"]:
        page, _, anchor = entry["location"].partition("#")
        if page == "reference/language/" and anchor.startswith("tl."):
            entries[anchor] = entry["location"]
        elif page == "reference/kernels/" and "." in entry["title"]:
            entries[entry["title"].partition("(")[0]] = entry["location"]
    assert {"tl.load", "tl.where", "kernels.softmax"} <= set(entries) and len(entries) > 70
    found = fresh("").evaluate(TRY, [[[*entry.values()] for entry in book["docs"]], book["listings"], None, [*entries]])
    assert {name: items[0]["location"] for name, items in zip(entries, found, strict=True)} == entries


def test_half_a_message_finds_its_entry(ask):
    """Each half of what the compiler, or else the interpreter, says last to a program of the error index; 95% must lead there."""
    halves: dict[str, set[str]] = {}  # two mistakes may end in the same words
    for entry in (entry for here in messages.entries().values() for entry in here):
        said = entry.said.values()
        spoken = [text for by_version in said for texts in by_version.values() for text in texts if text != messages.SILENT]
        if spoken:
            lines = spoken[0].splitlines()
            words = lines[0 if lines[-1].strip() == "^" else -1].split()
            half = -(-len(words) // 2)
            title = html.unescape(re.sub("<.*?>", "", messages.inline_html(entry.title)))
            for part in (words[:half], words[-half:]):
                halves.setdefault(" ".join(part), set()).add(title)
    found = ask(*halves)
    missed = {query: found[query] for query in halves if not any(halves[query] & {*result} for result in found[query])}
    assert len(missed) <= 0.05 * len(halves), missed


def test_the_smallest_words_are_harmless(ask):
    found = ask("to", "how", "mask", "how to mask", "how do I mask it?", "m")
    assert all(found.values())
    assert found["mask"] == found["how to mask"] == found["how do I mask it?"]


def test_strange_queries_are_harmless(ask):
    found = ask("torch.randn(2**28", "+mask", "-", '"', "title:", "<b>", "constructor", "__proto__", "a " * 500, "zebra")
    assert found["+mask"] and not found["zebra"]


def test_the_book_comes_with_the_first_query(site, fresh):
    page = fresh(None)
    called = []
    page.on("request", lambda request: called.append(request.url.removeprefix(site.url)))
    page.goto(site.url)
    page.wait_for_load_state("networkidle")
    assert "search/search_index.json" in called and "search/book.json" not in called
    page.evaluate(ASK, ["mask"])
    assert "search/book.json" in called


DOCS = [
    ("course/sums/", "Sums", "<p>Adding up.</p>"),
    ("course/sums/#how", "How a row is summed", "<p>One program takes a row. Its <code>mask</code> ends it.</p>"),
    ("course/sums/#in-short", "In short", "<p>Sums of a row.</p>"),
    ("course/rows/", "Rows", "<p>Of &lt;numbers&gt;.</p>"),
    ("reference/", "Sums", "<p>Adding up.</p>"),
    ("reference/language/#tl.sum", "<code>tl.sum(x, rows)</code>, <code>max</code>", "<p>One number.</p>"),
    ("reference/language/#tl.sums", "<code>tl.sums(x)</code>", "<p>Every <code>tl.sum</code> on the way.</p>"),
    ("course/descriptors/", "Who makes <code>TensorDescriptor</code>", "<p>The host.</p>"),
]
LISTINGS = {"course/rows/": "import triton\nptr = tl.make_block_ptr(x)\nValueError: shapes do not match: 3 and 4"}
TRY = """async ([docs, listings, synonyms, queries]) => {
  const { Engine } = await import(new URL("assets/search/engine.js", location));
  const engine = new Engine(docs.map(([location, title, text]) => ({ location, title, text })), listings, synonyms ?? undefined);
  return queries.map((query) => engine.search(query).items.flat().filter((item) => item.score > 0));
}"""


@pytest.fixture
def small(fresh):
    page = fresh("")
    return lambda *queries: page.evaluate(TRY, [DOCS, LISTINGS, "tma, descriptor\nslow > rows", queries])


@pytest.mark.parametrize(
    "query, first",
    [
        ("sum", "course/sums/"),  # a lesson before the reference
        ("sums of rows", "course/sums/#how"),  # two words in a heading before one
        ("what is the mask of a row", "course/sums/#how"),
        ("make_block_ptr", "course/rows/"),
        ("block pointers ptr", "course/rows/"),
        ("tl.make_block_ptr", "course/rows/"),
        ("shapes do not match", "course/rows/"),
        ("tensor descriptor", "course/descriptors/"),
        ("TMA", "course/descriptors/"),
        ("why is it slow", "course/rows/"),
        ("descr", "course/descriptors/"),
        ("tl.sum", "reference/language/#tl.sum"),  # the entry of this very name before all else
        ("tl.sums", "reference/language/#tl.sums"),
        ("triton.language.sum", "reference/language/#tl.sum"),
        ("tl.sum of rows", "reference/language/#tl.sum"),
        ("tl.max", "reference/language/#tl.sum"),
        ("max", "reference/language/#tl.sum"),  # no lesson has it in a heading
        ("rows", "course/rows/"),  # an argument is no heading
        ("kernels.row", "course/rows/"),  # of a name that nobody knows, the last part
    ],
)
def test_what_comes_first(small, query, first):
    [found] = small(query)
    assert found[0]["location"] == first, json.dumps(found, indent=1)


def test_an_entry_hides_no_lesson_and_the_start_of_a_name_finds_nothing(small):
    by_name, of_nobody = small("tl.sum", "tl.zebra")
    assert {"course/sums/", "course/sums/#how"} <= {item["location"] for item in by_name}
    assert of_nobody == []


def test_a_dotted_name_keeps_its_synonyms_to_itself(fresh):
    queries = ["np.fold", "np.where", "fold", "where", "np.with"]
    found = fresh("").evaluate(TRY, [DOCS, LISTINGS, "np.fold, np.where > descriptors", queries])
    assert [[item["location"] for item in items] for items in found] == [["course/descriptors/"]] * 2 + [[]] * 3


def test_a_result_shows_the_words_and_their_line(small):
    sums, rows = small("mask", "numbers match")
    assert "Its <mark>mask</mark> ends it." in sums[0]["text"] and sums[0]["terms"] == {"mask": True}
    assert "Of &lt;<mark>numbers</mark>&gt;." in rows[0]["text"]


def test_what_nobody_wrote_is_not_found(small):
    assert small("zebra", "", "   ", "?") == [[], [], [], []]
