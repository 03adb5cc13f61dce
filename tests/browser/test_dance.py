"""The dance between memory and chip: by keyboard, at phone width, without motion, without scripts, without a recording."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from scripts.pages import memory_traffic as dance
from tests.browser.conftest import PALETTES
from tests.browser.probes import add_page, open_on_a_still_clock, reach, reaching
from tests.browser.test_stepper import focused, said, tab_to
from tests.records.test_traces_dances import LAWS, rows_of

RECORDINGS = "**/baked/cpu/traces/dances/**"
LIVE, COUNT, SUM = ".dance", ".stepper-count", ".dance-sum"


@pytest.fixture
def fresh(fresh):
    return reaching(fresh)


@pytest.fixture(scope="module")
def pages(site) -> dict[str, str]:
    return {name: add_page(site, f"dance-{name}", dance.element_html(name, rows_of(name), "../../")) for name in dance.DANCES}


def trip(page) -> str:
    return page.locator(COUNT).inner_text()


def test_a_reader_steps_and_changes_the_block_size_by_keyboard_alone(pages, fresh):
    page = fresh(pages["add"])
    page.wait_for_selector(LIVE)
    assert int(trip(page).split()[1]) >= 2, "it opens on empty boxes"
    assert "512: 8 programs, 24 trips to memory, 48,000 bytes." in page.locator(SUM).inner_text()
    tab_to(page, "add_kernel, trip by trip")
    assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    page.keyboard.press("Home")
    told = []
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        told.append(said(page))
    assert told == [
        "Program 0 loads x[0] to x[511]: 2,048 bytes up to the chip.",
        "Program 0 loads y[0] to y[511]: 2,048 bytes up to the chip.",
        "Program 0 stores out[0] to out[511]: 2,048 bytes down to memory.",
        "Program 1 loads x[512] to x[1023]: 2,048 bytes up to the chip.",
    ]
    assert page.locator(SUM).inner_text().endswith("So far 6,144 bytes loaded, 2,048 stored.")
    page.keyboard.press("ArrowLeft")
    assert said(page) == told[2] and trip(page) == "Trip 3 of 24"
    tab_to(page, "Block size 4096")
    page.keyboard.press("Enter")
    page.wait_for_selector("tr.lit[data-block='4096']")
    assert page.locator(SUM).inner_text().startswith("Block size 4096: 1 program, 3 trips to memory, 48,000 bytes.")
    assert page.locator("[aria-pressed=true]").inner_text() == "4096" and page.locator("tr.lit").count() == 1
    assert focused(page) == "Block size 4096", "the choice loses the focus"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert said(page) == "Program 0 loads x[0] to x[3999]: 16,000 bytes up to the chip."


@pytest.mark.parametrize("name", dance.DANCES)
def test_at_the_end_the_trips_have_moved_what_the_ledger_says(name, pages, fresh):
    page = fresh(pages[name])
    for number, block in enumerate(dance.DANCES[name].blocks):
        law = LAWS[name](block)
        page.locator(f"[data-pick='{number}']").click()
        page.wait_for_selector(f"tr.lit[data-block='{block}']")
        assert f"{law.trips:,} trips to memory, {law.moved:,} bytes." in page.locator(SUM).inner_text()
        most = page.evaluate(
            """() => { const it = document.querySelector('memory-dance'); let most = 0;
              const held = () => parseInt(it.querySelector('.where small').textContent.replaceAll(',', ''));
              for (let step = Math.max(0, it.last - 40); step <= it.last; step++) { it.go(step); most = Math.max(most, held()); }
              return most; }"""
        )
        assert most == law.footprint, block
        assert trip(page) == f"Trip {law.trips:,} of {law.trips:,}"
        assert page.locator(SUM).inner_text().endswith(f"So far {law.loaded:,} bytes loaded, {law.stored:,} stored.")


def test_a_block_travels_up_and_down_and_arrives(pages, fresh):
    page = fresh(pages["matmul"])
    page.wait_for_selector(LIVE)
    forward = page.get_by_role("button", name="Step forward")
    page.get_by_role("button", name="Restart").click()
    for trips, kind in ((1, "load"), (8, "store")):
        for _ in range(trips):
            forward.click()
        moving = page.locator(f".traveller.{kind}")
        assert moving.count() == 1
        moving.wait_for(state="detached", timeout=3000)
        assert page.locator(".on-chip .mark.now").count() == 1 and page.locator(".mark.now:not(.chip)").count() > 1
    assert page.locator(".piece .name.now").all_inner_texts() == ["c", "c"], "the store does not leave from the block it stores"


def test_a_block_on_chip_is_as_large_as_its_tile_in_memory(pages, fresh):
    for name in ("add", "matmul"):
        page = fresh(pages[name])
        page.wait_for_selector(LIVE)
        page.get_by_role("button", name="Restart").click()
        page.get_by_role("button", name="Step forward").click()
        boxes = [page.locator(s).bounding_box() for s in (".on-chip .mark.now", ".dance-stage .sheets:last-child .mark.now")]
        assert boxes[0]["width"] == pytest.approx(boxes[1]["width"], abs=1.5)
        assert boxes[0]["height"] == pytest.approx(boxes[1]["height"], abs=1.5)


def test_it_plays_once_when_it_is_seen_and_pauses(site, pages, fresh):
    page = fresh(None)
    open_on_a_still_clock(page, site.url + pages["add"])
    reach(page)
    page.locator(LIVE).scroll_into_view_if_needed()
    page.wait_for_selector("[data-play][aria-label=Pause]")
    page.clock.run_for(3_000)
    page.locator(LIVE).focus()
    page.keyboard.press("Space")
    reached = trip(page)
    assert reached not in ("Trip 2 of 24", "Trip 24 of 24")
    page.clock.run_for(5_000)
    assert trip(page) == reached, "it plays on after a pause"
    page.keyboard.press("Space")
    page.clock.run_for(30_000)
    assert trip(page) == "Trip 24 of 24" and page.get_by_role("button", name="Play").count() == 1


def test_nothing_moves_under_reduced_motion(site, pages, fresh):
    page = fresh(None)
    page.emulate_media(reduced_motion="reduce")
    page.goto(site.url + pages["matmul"])
    reach(page)
    page.locator(LIVE).scroll_into_view_if_needed()
    opened = trip(page)
    page.wait_for_timeout(200)
    assert page.get_by_role("button", name="Play").count() == 1 and trip(page) == opened
    page.locator(LIVE).focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.querySelector('memory-dance').getAnimations({ subtree: true }).length") == 0
        assert page.locator(".traveller").count() == 0


@pytest.mark.parametrize("name", dance.DANCES)
@pytest.mark.parametrize("palette", PALETTES)
def test_on_a_phone_it_fits_and_is_accessible(palette, name, pages, fresh):
    page = fresh(pages[name], palette, 390)
    page.emulate_media(reduced_motion="reduce")
    page.wait_for_selector(LIVE)
    for number in range(len(dance.DANCES[name].blocks)):
        page.locator(f"[data-pick='{number}']").click()
        page.wait_for_selector(f"tr.lit[data-block='{dance.DANCES[name].blocks[number]}']")
        page.get_by_role("button", name="Restart").click()
        for _ in range(3):
            page.get_by_role("button", name="Step forward").click()
            assert page.evaluate("document.documentElement.scrollWidth") == 390
            assert page.locator(".dance-stage").evaluate("e => e.scrollWidth <= e.clientWidth"), "the picture is cut off"
    assert page.locator(".dance-ledger").evaluate("e => e.scrollWidth <= e.clientWidth"), "the ledger is cut off"
    found = Axe().run(page, context="memory-dance").response["violations"]
    assert [problem["id"] for problem in found if problem["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("name, words", [("add", "stores out[0] to out[511]"), ("matmul", "stores c[0:32, 0:32]")])
def test_without_scripts_picture_and_counts_stand(name, words, pages, browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url + pages[name])
    assert words in page.locator("memory-dance .still").inner_text()
    assert f"{LAWS[name](dance.DANCES[name].blocks[0]).moved:,}" in page.locator(".dance-ledger").inner_text()
    for mark in page.locator(".still .mark").all():
        box = mark.bounding_box()
        assert box["width"] > 8 and box["height"] > 8
    context.close()


def test_a_recording_that_fails_leaves_the_picture_and_a_line(site, pages, fresh):
    page = fresh(None)
    page.route(RECORDINGS, lambda route: route.fulfill(body='{"source": ['))
    page.goto(site.url + pages["add"])
    page.locator("memory-dance").scroll_into_view_if_needed()
    page.wait_for_selector(".stepper-note")
    assert "could not be loaded" in page.locator(".stepper-note").inner_text()
    assert "Loads x[0] to x[511]" in page.locator("memory-dance .still").inner_text()
    assert "48,000" in page.locator(".dance-ledger").inner_text()


def test_a_block_size_whose_recording_fails_leaves_the_one_before(site, pages, fresh):
    page = fresh(None)
    page.route("**/dances/add_2048.json", lambda route: route.abort())
    page.goto(site.url + pages["add"])
    reach(page)
    page.get_by_role("button", name="Restart").click()
    page.get_by_role("button", name="Step forward").click()
    page.get_by_role("button", name="Block size 2048").click()
    page.wait_for_selector(".stepper-note")
    assert "The recording for 2048 could not be loaded." in page.locator(".stepper-note").inner_text()
    assert trip(page) == "Trip 1 of 24" and page.locator("tr.lit").get_attribute("data-block") == "512"
    page.unroute("**/dances/add_2048.json")
    page.get_by_role("button", name="Block size 2048").click()
    page.wait_for_selector("tr.lit[data-block='2048']")
    assert page.locator(".stepper-note").count() == 0, "it is not tried again"
