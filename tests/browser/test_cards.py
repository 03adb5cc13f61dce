"""The choice of a card on measured charts, on a page where a made-up second card has records of two of three charts."""

import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from scripts import prepare
from tests.browser.conftest import PALETTES, settle
from tests.browser.probes import add_page
from tests.records.second_card import ALONE, BOTH, GPU, MACHINE, plant

OWN = "NVIDIA H200"
NAMES = (BOTH[0], ALONE, BOTH[1])


@pytest.fixture(scope="module")
def address(site, tmp_path_factory) -> str:
    docs = plant(tmp_path_factory.mktemp("docs") / "docs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepare, "DOCS", docs)
        prepare.write_charts()
    shutil.copytree(docs / "data" / "charts" / MACHINE, site.folder / "data" / "charts" / MACHINE)
    figures = [(docs / "generated" / "charts" / f"{name}.html").read_text(encoding="utf-8") for name in NAMES]
    return add_page(site, "cards", "<p>between</p>".join(figures))


@pytest.fixture
def opened(fresh, address):
    def open_page(palette: str = "light", width: int = 1280) -> Page:
        page = fresh(address, palette, width)
        for name in NAMES:
            page.locator(f"#chart-{name} chart-cards").scroll_into_view_if_needed()
            page.wait_for_selector(f"#chart-{name} chart-cards input")
        return page

    return open_page


def captions(page: Page, card: dict[str, str]) -> None:
    """Wait until each chart's caption names this card, and its table, its files and its values belong to it."""
    for name, gpu in card.items():
        page.wait_for_function(
            "([name, gpu]) => document.querySelector(`#chart-${name} figcaption`).textContent.includes(`an ${gpu},`)",
            arg=[name, gpu],
        )
        folder = f"{MACHINE}/{name}" if gpu == GPU else name
        links = page.locator(f"#chart-{name} .files a").evaluate_all("all => all.map((link) => link.href)")
        assert [link.partition("data/charts/")[2] for link in links] == [f"{folder}.csv", f"{folder}.json"]
        assert page.locator(f"#chart-{name} > :is(chart-values, .wide)").count() == 1
        ids = page.locator(f"#chart-{name} [id]").evaluate_all("all => all.map((each) => each.id)")
        assert len(ids) == len(set(ids))


def test_all_charts_of_a_page_follow_the_mouse_and_the_choice_is_kept(opened, address, site):
    page = opened()
    settle(page)
    own, second = dict.fromkeys(NAMES, OWN), dict.fromkeys(BOTH, GPU) | {ALONE: OWN}
    captions(page, own)
    assert page.locator("chart-cards [role=status]").all_inner_texts() == [""] * 3
    page.locator(f"#chart-{BOTH[0]} details.data summary").click()
    medians = page.locator(f"#chart-{BOTH[0]} tbody tr:first-child td").all_inner_texts()
    page.locator(f"#chart-{BOTH[0]} chart-cards").get_by_label(GPU).check()
    captions(page, second)
    assert page.locator(f"#chart-{BOTH[0]} tbody tr:first-child td").all_inner_texts() != medians, "an open table stays open"
    said = page.locator("chart-cards [role=status]").all_inner_texts()
    kept = f"The text keeps the numbers of the {OWN}."
    assert said == [kept, f"There is no record of this chart from the {GPU}: this is the {OWN}’s.", kept]
    assert page.locator("chart-cards small").all_inner_texts() == ["no record"]
    assert page.locator(f"#chart-{ALONE} chart-cards input").nth(1).is_disabled()

    page.locator(f"#chart-{BOTH[1]} chart-values").focus()  # its values are the chosen card's
    page.keyboard.press("Home")
    page.wait_for_selector(f"#chart-{BOTH[1]} .chart-tip:not([hidden]) dd")
    first = page.locator(f"#chart-{BOTH[1]} tbody tr").first.evaluate("row => row.cells[3].textContent")
    assert first in page.locator(f"#chart-{BOTH[1]} .chart-tip").inner_text()

    page.goto(site.url + address)
    for name in NAMES:
        page.locator(f"#chart-{name} chart-cards").scroll_into_view_if_needed()
    captions(page, second)
    page.locator(f"#chart-{ALONE} chart-cards").get_by_label(OWN).check()  # back, from the chart that has one card alone
    captions(page, own)


def test_it_works_by_keyboard_and_the_focus_stays(opened):
    page = opened()
    page.locator(f"#chart-{BOTH[0]} chart-cards").get_by_label(OWN).focus()
    page.keyboard.press("ArrowRight")
    captions(page, dict.fromkeys(BOTH, GPU) | {ALONE: OWN})
    assert page.evaluate("document.activeElement.value") == MACHINE
    page.keyboard.press("ArrowLeft")
    captions(page, dict.fromkeys(NAMES, OWN))
    assert page.evaluate("document.activeElement.closest('figure').id") == f"chart-{BOTH[0]}"


def test_a_chart_that_cannot_be_loaded_says_so_and_keeps_its_own(opened):
    page = opened()
    page.route(f"**/{MACHINE}/{BOTH[0]}.html", lambda route: route.abort())
    page.locator(f"#chart-{BOTH[0]} chart-cards").get_by_label(GPU).check()
    captions(page, {BOTH[0]: OWN, BOTH[1]: GPU})
    page.wait_for_selector(f"#chart-{BOTH[0]} [role=status]:has-text('could not be loaded')")


@pytest.mark.parametrize("palette", PALETTES)
def test_on_a_phone_it_fits_and_is_accessible(palette, opened):
    page = opened(palette, 390)
    page.locator(f"#chart-{BOTH[0]} chart-cards").get_by_label(GPU).check()
    captions(page, dict.fromkeys(BOTH, GPU))
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    heights = page.locator("chart-cards label").evaluate_all("all => all.map((each) => each.getBoundingClientRect().height)")
    assert min(heights) >= 24
    found = Axe().run(page, context="chart-cards").response["violations"]
    assert [problem["id"] for problem in found if problem["impact"] in ("serious", "critical")] == []


def test_without_scripts_the_primary_s_stands(browser, site, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url + address)
    assert page.locator("chart-cards").count() == 3 and page.locator("chart-cards").all_inner_texts() == [""] * 3
    for name in NAMES:
        assert f"Measured on an {OWN}" in page.locator(f"#chart-{name} figcaption").inner_text()
    context.close()
