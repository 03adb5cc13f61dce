"""The order of tiles: every number against the records, by keyboard, on a phone, in both palettes, without scripts."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from scripts.pages import tile_order
from scripts.provenance import records
from scripts.provenance.environment import primary_machine
from tests.browser.conftest import PALETTES

PAGE = "course/tile-order/"
LIVE = "tile-order .explorer:not(.still)"
ORDER = records.read(records.record_path("cpu", "program", tile_order.ORDER))["figures"]
GPU = records.read(records.record_path(primary_machine(), "program", tile_order.GROUPS))
GROUPS = list(ORDER["orders"])


def reach(page: Page) -> None:
    page.locator("tile-order").scroll_into_view_if_needed()
    page.wait_for_selector(f"{LIVE} .explorer-words:not(:empty)")


def needed(group: str, wave: int) -> tuple[int, int, int]:
    """Rows of tiles, columns of tiles and bytes that a wave needs, from the record alone."""
    at_once, columns = GPU["figures"]["processors"], ORDER["columns"]
    tiles = [divmod(int(tile), columns) for tile in ORDER["orders"][group].split()][wave * at_once : (wave + 1) * at_once]
    rows, across = {row for row, _ in tiles}, {column for _, column in tiles}
    wide = ORDER["BLOCK_M"] * len(rows) + ORDER["BLOCK_N"] * len(across)
    return len(rows), len(across), wide * ORDER["K"] * 2


def of(group: str) -> tuple[dict, dict]:
    """The time and the counters of one setting at the picture's shape."""
    named = [row for row in GPU["measurements"] if row["implementation"] == f"group_{group}" and row["timing"] == "call"]
    timed = next(row for row in named if row["shape"] == "8192x8192x8192")
    return timed, next(row for row in GPU["counters"] if row["implementation"] == f"group_{group}")


def shown(page: Page) -> dict[str, str]:
    pairs = page.locator(f"{LIVE} dl > div").evaluate_all("all => all.map(div => [...div.children].map(c => c.textContent))")
    return dict(pairs)


def megabytes(count: float) -> str:
    return f"{int(count / 1e6 + 0.5):,} MB"


def test_every_number_is_that_of_the_records(site, fresh):
    page = fresh(PAGE)
    reach(page)
    waves = -(-ORDER["rows"] * ORDER["columns"] // GPU["figures"]["processors"])
    slider = page.locator(f"{LIVE} input[type=range]")
    assert slider.get_attribute("max") == str(waves - 1)
    for group in GROUPS:
        page.locator(LIVE).get_by_label(group, exact=True).check()
        timed, counted = of(group)
        for wave in (0, waves // 2, waves - 1):
            slider.evaluate("(e, to) => { e.value = to; e.dispatchEvent(new Event('input', { bubbles: true })); }", wave)
            rows, columns, moved = needed(group, wave)
            figures = shown(page)
            assert [figures["Rows of a"], figures["Columns of b"]] == [str(rows), str(columns)], (group, wave)
            assert figures["Needed now"] == megabytes(moved)
            assert figures["Needed by all waves"] == megabytes(sum(needed(group, each)[2] for each in range(waves)))
            assert figures["Read from memory, counted"] == megabytes(counted["dram_read_bytes"])
            assert figures["Time, measured"] == f"{timed['ms'][1]:.2f} ms"
            assert abs(int(figures["Rate, measured"].split()[0]) - timed["flops"] / timed["ms"][1] / 1e9) <= 0.51
            if "l2_hit_percent" in counted:
                assert abs(int(figures["Hits in L2, counted"].removesuffix("%")) - counted["l2_hit_percent"]) <= 0.51
            words = page.locator(f"{LIVE} .explorer-words").inner_text()
            assert f"They need {rows} rows of tiles of a and {columns} columns of tiles of b: {megabytes(moved)}." in words
            drawn = page.locator(f"{LIVE} path.block").get_attribute("d").count("M")
            assert drawn == rows + columns
            assert page.locator("tr.lit").get_attribute("data-group") == group


def test_the_ledger_s_numbers_are_those_of_the_records(site, fresh):
    page = fresh(PAGE)
    for group in GROUPS:
        timed, counted = of(group)
        told = page.locator(f"tr[data-group='{group}']").inner_text()
        for part in (f"{counted['dram_read_bytes'] / 1e6:,.0f} MB", f"{timed['ms'][1]:.2f} ms"):
            assert part in told, (group, told)


def test_it_works_by_keyboard(site, fresh):
    page = fresh(PAGE)
    reach(page)
    page.locator(LIVE).get_by_label("8", exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(f"{LIVE} .explorer-words").inner_text().startswith("GROUP_M = 16.")
    before = page.locator(f"{LIVE} .explorer-words").inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    after = page.locator(f"{LIVE} .explorer-words").inner_text()
    first = [int(re.search(r"Programs ([\d,]+)", words)[1].replace(",", "")) for words in (before, after)]
    assert first[1] - first[0] == GPU["figures"]["processors"]
    assert page.locator(f"{LIVE} input[type=range]").get_attribute("aria-valuetext").startswith(f"programs {first[1]:,} to")


@pytest.mark.parametrize("palette", PALETTES)
def test_on_a_phone_it_fits_and_is_accessible(palette, site, fresh):
    page = fresh(PAGE, palette, 390)
    reach(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator(LIVE).evaluate("e => e.scrollWidth <= e.clientWidth")
    colors = [
        page.locator(f"{LIVE} path.{look}").evaluate("e => getComputedStyle(e).fill")
        for look in ("sheet", "done", "now", "block")
    ]
    assert len(set(colors)) == 4
    found = Axe().run(page, context="tile-order").response["violations"]
    assert [problem["id"] for problem in found if problem["impact"] in ("serious", "critical")] == []


def test_without_scripts_picture_and_ledger_stand(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url + PAGE)
    assert "GROUP_M = 8." in page.locator("tile-order .still").inner_text()
    assert page.locator("tile-order .still svg").bounding_box()["width"] > 200
    assert page.locator("tr[data-group='16']").inner_text()
    context.close()


def test_data_that_fails_leaves_the_picture_and_a_line(site, fresh):
    page = fresh(None)
    page.route("**/data/tile_order.json", lambda route: route.abort())
    page.goto(site.url + PAGE)
    page.locator("tile-order").scroll_into_view_if_needed()
    page.wait_for_selector("tile-order .stepper-note")
    assert "GROUP_M = 8." in page.locator("tile-order .still").inner_text()
