"""The site reads the same under Zensical as under MkDocs."""

from pathlib import Path

import pytest

from tests.docs import builds, engines
from tests.docs.page_rules import read_list
from tests.docs.site_rules import page_documents
from tests.turns import taken_if

ALLOWED = Path(__file__).resolve().parent / "engine_differences.txt"


@taken_if(len(builds.ENGINES) > 1)
def test_both_engines_build_the_same_pages(site, zensical_site):
    assert set(page_documents(zensical_site.site)) == set(page_documents(site.site))


@taken_if(len(builds.ENGINES) > 1)
def test_both_engines_show_the_same_text(site, zensical_site):
    allowed = engines.read_allowed(read_list(ALLOWED))
    assert engines.differences(site.site, zensical_site.site, allowed) == []


@pytest.fixture
def two(tmp_path):
    def write(first: str, second: str) -> tuple[Path, Path]:
        for name, text in (("first", first), ("second", second)):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "index.html").write_text(f"<html><body><article>{text}</article></body></html>", encoding="utf-8")
        return tmp_path / "first", tmp_path / "second"

    return write


def test_marks_and_spaces_make_no_difference(two):
    sites = two('<h1>A<a class="headerlink" href="#a">¶</a></h1><p>b\nc</p>', "<h1>A</h1> <p>b c</p><script>1</script>")
    assert engines.differences(*sites, []) == []


@pytest.mark.parametrize("second", ["<p>one two four</p>", "<p>one three</p>", "<p>one two three</p><pre>x</pre>", ""])
def test_other_text_is_reported(two, second):
    assert engines.differences(*two("<p>one two three</p>", second), [])


def test_an_allowed_difference_passes_and_a_stale_one_fails(two):
    sites = two("<p>one two three</p>", "<p>one 2 three</p>")
    assert engines.differences(*sites, engines.read_allowed(["/ | two | 2"])) == []
    assert engines.differences(*sites, engines.read_allowed(["/ | two | 2", "/ | four | 4"]))
    assert engines.differences(*sites, engines.read_allowed(["/other/ | two | 2"]))
