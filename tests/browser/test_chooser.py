"""The chooser of a stack shows what the records hold; by keyboard, on a phone, in both palettes, without scripts."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from scripts.pages import chooser, chooser_element
from scripts.pages.formats import us
from tests.browser.conftest import PALETTES
from tests.browser.probes import add_page
from tests.records.made_up import write_chooser

LIVE = "stack-chooser .chooser:not(.still)"
SHOWN = f"{LIVE} section:not([hidden])"


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("baked")
    write_chooser(folder, "made-up")
    return chooser.data("made-up", folder)


@pytest.fixture(scope="module")
def address(site, given) -> str:
    return add_page(site, "chooser", chooser_element.element_html(given, "../../"))


@pytest.fixture
def opened(fresh, address):
    def make(palette: str = "light", width: int = 1280):
        page = fresh(address, palette, width)
        page.locator("stack-chooser").scroll_into_view_if_needed()
        page.wait_for_selector(f"{LIVE} form")
        return page

    return make


def cells(page) -> list[list[str]]:
    read = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    return page.locator(f"{SHOWN} tbody tr").evaluate_all(read)


def test_each_pattern_shows_its_own_figures(opened, given, site):
    page = opened()
    for pattern in given["patterns"]:
        page.locator(LIVE).get_by_label(pattern["name"], exact=True).check()
        assert page.locator(SHOWN).count() == 1
        expected = [[row["name"], *chooser_element.cells(row), row["cannot"]] for row in pattern["tools"]]
        assert cells(page) == expected
        words = page.locator(f"{SHOWN} .explorer-words").inner_text()
        assert words.startswith(f"{pattern['name']}, {pattern['case']}.")
        missing = [row["name"] for row in pattern["tools"] if row["ms"] is None]
        assert ("Not measured: " + ", ".join(missing) in words) == bool(missing)
        measured = [row for row in pattern["tools"] if row["ms"]]
        assert page.locator(f"{SHOWN} .chooser-bars li").evaluate_all("all => all.map(item => item.dataset.tool)") == [
            row["tool"] for row in pattern["tools"]
        ]
        bars = page.locator(f"{SHOWN} .bar").evaluate_all("all => all.map(bar => bar.getBoundingClientRect().width)")
        slowest = max((row["ms"][1] for row in measured), default=0)
        for width, row in zip(bars, measured, strict=True):
            assert width == pytest.approx(max(2, max(bars) * row["ms"][1] / slowest), abs=1)
        times = page.locator(f"{SHOWN} .track .time").all_inner_texts()
        assert times == [us(row["ms"][1] * 1e3) for row in measured]
        links = page.locator(f"{SHOWN} caption a").evaluate_all("all => all.map(link => link.href)")
        assert links == [f"{site.url}{pattern['chapter']}", f"{site.url}{pattern['program']}"]


def test_the_links_of_every_pattern_lead_somewhere(opened, given, site):
    page = opened()
    for pattern in given["patterns"]:
        assert (site.folder / pattern["program"]).exists()
        folder, anchor = pattern["chapter"].split("#")
        text = (site.folder / folder / "index.html").read_text(encoding="utf-8")
        assert f'id="{anchor}"' in text, pattern["chapter"]
    page.close()


def test_it_works_by_keyboard(opened, given):
    page = opened()
    page.locator(LIVE).get_by_label(given["patterns"][0]["name"], exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(f"{SHOWN} .explorer-words b").inner_text() == given["patterns"][1]["name"]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('section') !== null")


@pytest.mark.parametrize("palette", PALETTES)
def test_on_a_phone_it_fits_and_is_accessible(palette, opened):
    page = opened(palette, 390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    looks = ("[data-tool=triton] .bar", "[data-tool=eager] .bar")
    colors = [page.locator(f"{SHOWN} {look}").evaluate("e => getComputedStyle(e).backgroundColor") for look in looks]
    assert len({*colors, "rgba(0, 0, 0, 0)"}) == 3
    found = Axe().run(page, context="stack-chooser").response["violations"]
    assert [problem["id"] for problem in found if problem["impact"] in ("serious", "critical")] == []


def test_without_scripts_every_pattern_stands(browser, site, address, given):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url + address)
    for pattern in given["patterns"]:
        section = page.locator(f"section[data-pattern={pattern['key']}]")
        assert section.is_visible()
        assert section.locator("tbody tr").count() == len(pattern["tools"])
    context.close()
