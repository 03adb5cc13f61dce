"""The compiler lens shows the records' lines side by side; by mouse and keys, on a phone, in both palettes, without scripts."""

import gzip

import pytest
from axe_playwright_python.sync_playwright import Axe

from scripts.pages import lens
from scripts.provenance import records
from scripts.reading.text import lines_of
from tests.browser.conftest import PALETTES

LINE = ".lens-pane >> nth={} >> .lens-line"
KERNEL = "negate_kernel"


@pytest.fixture(scope="module")
def record() -> dict:
    return lens.made_of(records.read(records.record_path("cpu", "lens", KERNEL)))


@pytest.fixture
def opened(fresh, site):
    """The page with a kernel open, and what it complained of or asked of others."""

    def make(where: str = f"{KERNEL}/sm_90/ptx", palette: str = "light", width: int = 1280):
        page = fresh(None, palette, width)
        page.wrong = []
        page.on("console", lambda message: page.wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("request", lambda request: page.wrong.append(request.url) if not request.url.startswith(site.url) else None)
        page.goto(f"{site.url}lens/#{where}")
        page.locator("compiler-lens").scroll_into_view_if_needed()
        page.wait_for_selector(".lens-tabs" if where else ".lens [name=kernel]")
        return page

    return make


def lit(page, pane: int) -> list[int]:
    return [int(line.get_attribute("data-at")) for line in page.locator(f"{LINE.format(pane)}.lit").all()]


def linked(record: dict, stage: str, number: int) -> int:
    return sum(line.startswith(f"{number} ") for line in record["launches"][0]["stages"][stage])


def test_nothing_is_loaded_before_a_kernel_is_opened(opened):
    page = opened("")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    assert "Nothing is loaded" in page.locator(".lens-words").inner_text()
    page.locator("[name=kernel]").fill(KERNEL)
    page.locator(".lens form button").click()
    page.wait_for_selector(".lens-tabs")
    assert [url.rpartition("/")[2] for url in asked if "/data/lens/" in url] == [f"{KERNEL}.txt.gz"]
    assert page.wrong == [] and page.evaluate("location.hash") == f"#{KERNEL}/sm_90/ttgir"


@pytest.mark.parametrize("stage", ["ttir", "ttgir", "ptx", "sass"])
def test_a_line_lights_up_with_what_it_became_both_ways(stage, opened, record):
    page = opened(f"{KERNEL}/sm_90/{stage}")
    page.locator(LINE.format(0)).nth(7).click()
    assert lit(page, 0) == [8] and lit(page, 1) == [8] * linked(record, stage, 8)
    first = page.locator(f"{LINE.format(1)}.lit").first
    pane, line = page.locator(".lens-pane").nth(1).bounding_box(), first.bounding_box()
    assert pane["y"] <= line["y"] <= pane["y"] + pane["height"]
    page.locator(f"{LINE.format(1)}[data-at='6']").first.click()
    assert lit(page, 0) == [6] and "Line 6 of the source" in page.locator(".lens-words").inner_text()
    page.keyboard.press("Escape")
    assert lit(page, 0) == lit(page, 1) == [] and page.wrong == []


def test_hovering_lights_until_a_line_is_chosen(opened):
    page = opened()
    page.locator(LINE.format(0)).nth(6).hover()
    assert lit(page, 0) == [7] and lit(page, 1)
    page.locator(LINE.format(0)).nth(7).click()
    page.locator(LINE.format(0)).nth(6).hover()
    assert lit(page, 0) == [8]


def test_it_is_used_by_keyboard(opened):
    page = opened()
    page.locator(".lens-pane").first.focus()
    page.keyboard.press("End")
    assert lit(page, 0) == [8]
    page.keyboard.press("ArrowUp")
    assert lit(page, 0) == [7]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.ariaLabel") == "PTX"
    page.locator("[role=tab][aria-selected=true]").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "SASS"
    assert page.evaluate("document.activeElement.textContent") == "SASS"


def test_two_launches_stand_side_by_side_with_what_differs(opened, record):
    page = opened()
    page.locator("[name=other]").select_option(f"sm_90:{record['launches'][-1]['label']}")
    mine, theirs = (one["figures"]["registers"] for one in (record["launches"][0], record["launches"][-1]))
    marks = page.locator(".lens-figures mark").all_inner_texts()
    assert f"{mine} ⟷ {theirs}" in marks
    for pane, number in ((0, 0), (1, len(record["launches"]) - 1)):
        shown = page.locator(LINE.format(pane)).count()
        assert shown == len(lines_of(record, "ptx", number)) and 0 < page.locator(f"{LINE.format(pane)}.new").count() < shown
    page.locator("[name=other]").select_option("")
    assert page.locator(".lens-title").first.inner_text().startswith("Source") and page.wrong == []


def test_passes_are_told_in_order(opened, record):
    page = opened(f"{KERNEL}/sm_90/passes")
    names = [one["name"] for one in record["launches"][0]["passes"]["changed"]]
    assert page.locator(".lens-passes summary code").all_inner_texts() == names
    assert page.locator(".lens-passes pre").first.is_visible()


def test_layouts_are_drawn_and_gone_through(opened):
    page = opened(f"{KERNEL}/sm_90/layouts")
    assert "Element (0) is in warp 0, lane 0, register 0" in page.locator(".lens-told").inner_text()
    page.locator(".lens-canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    told = page.locator(".lens-told").inner_text()
    assert told.startswith("Element (33) is in warp 0, lane 8, register 1.")


def test_copy_gives_the_text(opened, record):
    page = opened()
    page.locator(".lens-copy").click()
    page.wait_for_function("document.querySelector('.lens-copy').textContent.startsWith('Copied')")
    expected = [line.partition(" ")[2] for line in record["launches"][0]["stages"]["ptx"]]
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(expected) + "\n"


def test_a_kernel_of_the_table_opens_above_it(opened):
    page = opened("")
    page.locator(f"a[data-kernel={KERNEL}]").click()
    page.wait_for_selector(".lens-tabs")
    assert page.locator("[name=kernel]").input_value() == KERNEL
    page.locator("[name=kernel]").fill("no_such_kernel")
    page.locator(".lens form button").click()
    assert "There is no kernel called" in page.locator(".lens-words").inner_text() and page.wrong == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("palette", PALETTES)
def test_it_fits_and_is_accessible(palette, width, opened):
    page = opened(palette=palette, width=width)
    for stage in ("ptx", "passes", "layouts"):
        page.locator(f"[data-stage={stage}]").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".lens").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        found = Axe().run(page, context="compiler-lens").response["violations"]
        serious = [problem for problem in found if problem["impact"] in ("serious", "critical")]
        assert [(problem["id"], problem["nodes"][0]["html"]) for problem in serious] == []
    assert page.wrong == []


def test_without_scripts_a_kernel_is_a_text(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.url}lens/")
    link = page.locator(f"a[data-kernel={KERNEL}]")
    assert "name leads to all of it" in page.locator("compiler-lens .still").inner_text()
    answer = context.request.get(f"{site.url}lens/{link.get_attribute('href')}")
    assert answer.ok and "== ptx 0" in gzip.decompress(answer.body()).decode()
    context.close()
