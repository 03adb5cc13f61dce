"""A lesson takes ten minutes, has its parts, and does not bury its idea in numbers; a deeper page is as short."""

import re
import shutil

import pytest
from bs4 import BeautifulSoup

from scripts import minutes
from scripts.pages import course_map, redirects
from tests.docs import pages
from tests.docs.pages import ROOT
from tests.docs.passages import BOUND, Reader

MOST = 12  # minutes, of any lesson or deeper page
OPENING = (
    "why-kernels", "first-kernel", "hardware", "masking", "grid-math", "block-model", "memory", "fused-softmax", "mistakes",
)  # fmt: skip
TIMED = minutes.addresses()
LESSONS = [address for address in TIMED if address.startswith("course/")]


@pytest.mark.parametrize("address", TIMED)
def test_a_page_takes_the_minutes_that_it_says(site, address):
    found = minutes.read(address, site.site).minutes
    assert found <= MOST, f"{address} takes {found:.1f} minutes"
    said = minutes.said(address)
    assert said and said[0] == round(found) and said[1] in ("start", "intermediate", "advanced"), (
        f"{address} takes {found:.1f} minutes and says {said}; renew it with python scripts/minutes.py --write {address}"
    )


def test_the_opening_lessons_take_an_evening(site):
    assert sum(minutes.read(f"course/{lesson}", site.site).minutes for lesson in OPENING) < 90


def test_every_lesson_and_deeper_page_is_timed():
    written = {pages.address_of(pages.name_of(path)).rstrip("/") for path in pages.page_files()}
    assert {address for address in written if address.startswith(("course/", "deeper/"))} == set(TIMED)


@pytest.mark.parametrize("address", LESSONS)
def test_a_lesson_has_its_parts(address):
    text = (ROOT / "docs" / f"{address}.md").read_text(encoding="utf-8")
    body = text.split("\n---\n", 1)[1]
    first = re.search(r"^# .+\n\s+(.+)$", re.sub(r"^\[%.*?%\]$", "", body, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    assert first and re.match(r"\*\*[^*]+\?\*\*", first[1]), "the first paragraph begins with the question in bold"
    headings = [line.strip("# ").partition(" {")[0] for line in text.splitlines() if re.match(r"##+ ", line)]
    assert any(re.match(r"What goes wrong", heading) for heading in headings) or address == "course/mistakes", headings
    assert "Exercise" in headings and headings[-2:] == ["Check yourself", "In short"], headings


@pytest.mark.parametrize("address", LESSONS)
def test_a_lesson_s_paragraphs_are_not_tables(address):
    text = (ROOT / "docs" / f"{address}.md").read_text(encoding="utf-8")
    text = re.sub(r"\[% macro .*?%\].*?\[% endmacro %\]|^(?:\[%[^\n]*%\])?\|[^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    passages = Reader(text).passages
    crowded = [f"line {each.line}: {each.text[:80]}" for each in passages if not each.heads and each.text.count(BOUND) > 3]
    assert crowded == []


@pytest.mark.parametrize("address", TIMED)
def test_no_reason_is_guessed_in_passing(address):
    assert "likely reason" not in (ROOT / "docs" / f"{address}.md").read_text(encoding="utf-8")


ARTICLE = """<article><h1>Sums<a class="headerlink">#</a></h1><p>One two three.</p><svg><text>not read</text></svg>
<pre>a = 1\n\nb = 2\n</pre><details><summary>Solution</summary><p>Four five</p><pre>c = 3</pre></details>
<my-widget><p>not read</p></my-widget>
<blockwise-question><p>Seven</p><ol><li>eight</li></ol><details><summary>Answer</summary>nine</details></blockwise-question>
<figure><figcaption>six</figcaption><details class="data"><table></table></details></figure></article>"""


def test_minutes_count_prose_captions_questions_and_folded_answers_but_no_solution_s_code():
    assert minutes.reading(BeautifulSoup(ARTICLE, "html.parser").article) == (12, 2)


def test_the_map_of_the_course_is_the_navigation_s(site):
    parts = course_map.course()
    assert list(parts)[0] == "Start here" and len(parts["Start here"]) == 11
    home = BeautifulSoup((site.site / "index.html").read_text(encoding="utf-8"), "html.parser")
    shown = [link["href"] for link in home.select("#course-map a.bw-page-link")]
    assert shown == [page.address for part in parts.values() for page in part]
    assert [at for at in shown if not (site.site / at / "index.html").is_file()] == []


def test_old_addresses_lead_to_pages_that_are_there(site):
    for old, new in redirects.read(ROOT / "docs").items():
        page, _, anchor = new.partition("#")
        file = site.site / page / "index.html"
        assert file.is_file(), f"{old} leads to {new}, which is not there"
        assert not anchor or f'id="{anchor}"' in file.read_text(encoding="utf-8"), f"{old}: {page} has no #{anchor}"
        left, _, section = old.partition("#")
        text = (site.site / left / "index.html").read_text(encoding="utf-8")
        assert f'id="{section}"' not in text if section else "location.replace" in text, f"{old} is still there"


def test_a_line_that_is_no_redirect_is_named(tmp_path):
    shutil.copy(ROOT / "docs" / "redirects.tsv", tmp_path)
    with (tmp_path / "redirects.tsv").open("a") as file:
        file.write("course/old/ course/new/\n")
    with pytest.raises(ValueError, match=r"redirects\.tsv:\d+: expected"):
        redirects.read(tmp_path)
