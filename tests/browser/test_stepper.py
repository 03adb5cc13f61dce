"""The program stepper: by keyboard, at phone width, without motion, without scripts, without its recording."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import PALETTES

pytestmark = pytest.mark.xdist_group("browser")
ADD, SOFTMAX = "course/first-kernel/", "course/fused-softmax/"
RECORDINGS = "**/baked/cpu/traces/**"
STEPPER, SENTENCE, LIT = ".stepper:not(.still)", ".stepper-sentence", ".stepper-code .lit"
ADD_STEPS = [
    ("pid = tl.program_id(0)", "Program 3 asks for its number: pid = 3."),
    ("offsets = pid * BLOCK", "Program 3 works out offsets, a number for each lane: 768 to 1023."),
    ("mask = offsets < n_elements", "Program 3 works out mask: true in 232 lanes, false in 24."),
    ("x = tl.load(x_ptr", "Program 3 loads x[768] to x[999]; 24 lanes are masked off (they point past the end of x)."),
    ("y = tl.load(y_ptr", "Program 3 loads y[768] to y[999]; 24 lanes are masked off (they point past the end of y)."),
    ("out = x.to", "Program 3 adds x and y lane by lane into out."),
    ("tl.store(out_ptr", "Program 3 stores out[768] to out[999]; 24 lanes are masked off (they point past the end of out)."),
]


def said(page) -> str:
    return page.locator(SENTENCE).inner_text().replace("\xa0", " ")


def focused(page) -> str:
    return page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''")


def tab_to(page, label: str) -> None:
    for _ in range(80):
        page.keyboard.press("Tab")
        if focused(page).startswith(label):
            return
    pytest.fail(f"Tab never reaches {label}")


def test_a_program_is_stepped_by_keyboard_alone(fresh):
    page = fresh(ADD)
    page.wait_for_selector(STEPPER)
    assert said(page) == "Program 0 asks for its number: pid = 0.", "it opens on another program than the first"
    tab_to(page, "Program 3")
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("Shift+Tab")
    assert focused(page).startswith("add_kernel, step by step")
    assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    for code, words in ADD_STEPS:
        assert page.locator(LIT).inner_text().strip().startswith(code)
        assert said(page) == words
        page.keyboard.press("ArrowRight")
    assert said(page) == ADD_STEPS[-1][1], "a step beyond the last one"
    page.keyboard.press("ArrowLeft")
    assert said(page) == ADD_STEPS[-2][1]

    tab_to(page, "Program 0")
    page.keyboard.press("Enter")
    assert said(page) == "Program 0 adds x and y lane by lane into out.", "another program keeps the step"
    assert page.locator("[aria-pressed=true]").inner_text() == "0"
    tab_to(page, "Restart")
    page.keyboard.press("Enter")
    assert said(page) == "Program 0 asks for its number: pid = 0."


def test_every_step_of_softmax_is_said_and_drawn(fresh):
    page = fresh(SOFTMAX)
    page.wait_for_selector(STEPPER)
    page.locator(STEPPER).focus()
    page.get_by_role("button", name="Program 1", exact=True).click()
    told = []
    for _ in range(9):
        told.append(said(page))
        page.keyboard.press("ArrowRight")
    assert told[3] == (
        "Program 1 loads x[1, 0] to x[1, 12]; 3 lanes are masked off (they point at x[2, 0] to x[2, 2]) and filled with −∞."
    )
    assert told[4].startswith("Program 1 finds the largest of its 16 lanes: ")
    assert told[6].startswith("Program 1 adds up its 16 lanes: ")
    assert told[8] == "Program 1 stores y[1, 0] to y[1, 12]; 3 lanes are masked off (they point at y[2, 0] to y[2, 2])."
    assert page.locator(".stepper-picture").inner_text().count("−∞") == 3
    assert page.locator(".tensor .mark.masked").count() == 1


def test_it_plays_only_when_asked_and_pauses(site, fresh):
    page = fresh(None)
    page.clock.install()
    page.goto(site.url + ADD)
    page.wait_for_selector(STEPPER)
    page.clock.run_for(10_000)
    assert page.locator(".stepper-count").inner_text().startswith("Step 1 "), "it plays on its own"
    page.get_by_role("button", name="Program 3", exact=True).click()
    page.locator(STEPPER).focus()
    page.keyboard.press("Space")
    assert page.locator(SENTENCE).get_attribute("aria-live") == "off"
    page.clock.run_for(4_000)
    page.keyboard.press("Space")
    reached = said(page)
    assert reached in [words for _, words in ADD_STEPS[1:4]]
    assert page.locator(SENTENCE).get_attribute("aria-live") == "polite"
    page.clock.run_for(10_000)
    assert said(page) == reached, "it plays on after a pause"
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(20_000)
    assert said(page) == ADD_STEPS[-1][1]
    assert page.get_by_role("button", name="Play").count() == 1, "it does not stop at the end"


def test_space_plays_from_a_program_button_and_never_scrolls(fresh):
    page = fresh(ADD)
    page.get_by_role("button", name="Program 2", exact=True).click()
    top = page.evaluate("scrollY")
    page.keyboard.press("Space")
    assert page.get_by_role("button", name="Pause").count() == 1
    page.keyboard.press("Space")
    assert page.get_by_role("button", name="Play").count() == 1
    page.get_by_role("button", name="Step forward").focus()
    page.keyboard.press("Space")
    assert said(page) == "Program 2 works out offsets, a number for each lane: 512 to 767."
    assert page.evaluate("scrollY") == top


def test_undefined_lanes_and_both_colors_are_explained(fresh):
    page = fresh(ADD)
    page.get_by_role("button", name="Program 3", exact=True).click()
    for _ in range(5):
        page.get_by_role("button", name="Step forward").click()
    assert page.locator(".block .seg.masked", has_text="?").count() == 3, "x, y and their sum"
    legend = page.locator(".legend").inner_text()
    assert "undefined: nothing was loaded, nothing will be stored" in legend
    assert "set on chip in this step" in legend and "read or written in memory in this step" in legend
    assert page.get_by_text("offset in x").count() == 0, "offsets are shown where nothing is loaded or stored"


def test_on_a_phone_program_and_line_stay_in_view(fresh):
    page = fresh(ADD, width=390)
    page.get_by_role("button", name="Program 3", exact=True).click()
    for _ in range(3):
        page.get_by_role("button", name="Step forward").click()
    page.locator(".where.memory").evaluate("e => scrollTo(0, scrollY + e.getBoundingClientRect().top - 400)")
    for selector in ("[data-pick='3']", ".stepper-line", "[data-play]", ".where.memory"):
        assert 0 < page.locator(selector).bounding_box()["y"] < 500, selector
    assert page.locator(".stepper-line").inner_text() == "x = tl.load(x_ptr + offsets, mask=mask)"
    for text in ("false", "?", "1023"):
        assert page.locator(".seg.masked b", has_text=text).is_visible(), text


def test_nothing_moves_under_reduced_motion(site, fresh):
    page = fresh(None)
    page.emulate_media(reduced_motion="reduce")
    page.goto(site.url + SOFTMAX)
    page.locator(STEPPER).focus()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.querySelector('program-stepper').getAnimations({ subtree: true }).length") == 0


@pytest.mark.parametrize("address", [ADD, SOFTMAX])
@pytest.mark.parametrize("palette", PALETTES)
def test_on_a_phone_it_fits_and_is_accessible_at_every_step(palette, address, fresh):
    page = fresh(address, palette, 390)
    page.emulate_media(reduced_motion="reduce")
    page.wait_for_selector(STEPPER)
    page.locator(STEPPER).focus()
    for _ in range(int(page.locator(".stepper-count").inner_text().split()[-1])):
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        page.keyboard.press("ArrowRight")
    found = Axe().run(page, context="program-stepper").response["violations"]
    assert [problem["id"] for problem in found if problem["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("address, words", [(ADD, "24 lanes are masked off"), (SOFTMAX, "x[1, 0] to x[1, 12]")])
def test_without_scripts_the_picture_stands(address, words, browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url + address)
    picture = page.locator("program-stepper .still")
    assert words in picture.inner_text()
    assert picture.locator(".seg.masked").first.bounding_box()["width"] > 10
    context.close()


@pytest.mark.parametrize("broken", ["lost", "missing", "cut off"])
def test_a_recording_that_fails_leaves_the_picture_and_a_line(broken, site, fresh):
    page = fresh(None)
    answers = {
        "lost": lambda route: route.abort(),
        "missing": lambda route: route.fulfill(status=404, body="{}"),
        "cut off": lambda route: route.fulfill(body='{"source": ['),
    }
    page.route(RECORDINGS, answers[broken])
    page.goto(site.url + ADD)
    page.wait_for_selector(".stepper-note")
    assert "could not be loaded" in page.locator(".stepper-note").inner_text()
    assert "24 lanes are masked off" in page.locator("program-stepper .still").inner_text()


def test_instant_navigation_brings_it_along(fresh):
    page = fresh(ADD)
    page.wait_for_selector(STEPPER)
    page.evaluate("window.marker = true")
    for name, kernel in (("Fused softmax", "softmax_kernel"), ("Your first kernel", "add_kernel")):
        page.locator(".md-nav--primary a", has_text=name).click()
        page.locator(f"{STEPPER}[aria-label^='{kernel}']").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator(".stepper-count").inner_text().startswith("Step 2 ")
    assert page.evaluate("window.marker") is True, "the whole page was loaded anew"
