"""The program stepper: by keyboard, at phone width, without motion, without scripts, without its recording."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from scripts.pages import stepper
from scripts.provenance import records
from tests.browser.conftest import PALETTES, open_for_instant, press_copy
from tests.browser.probes import add_page, open_on_a_still_clock, reach, reaching

ADD, SOFTMAX = "course/first-kernel/", "course/fused-softmax/"
RECORDINGS = "**/baked/cpu/traces/**"
STEPPER, SENTENCE, LIT = ".stepper:not(.still)", ".stepper-sentence", ".stepper-code .lit"
COUNT, ANSWER = ".stepper-count", ".stepper-answer"
PAGES = [path for folder in ("course", "deeper") for path in sorted((records.ROOT / "docs" / folder).glob("*.md"))]
STEPPED = [f"{path.parent.name}/{path.stem}/" for path in PAGES if "generated/traces/" in path.read_text(encoding="utf-8")]
ADD_STEPS = [
    ("pid = tl.program_id(0)", "Program 3 asks for its number: pid = 3."),
    ("offsets = pid * BLOCK", "Program 3 works out offsets, a number for each lane: 768 to 1023."),
    ("mask = offsets < n_elements", "Program 3 works out mask: true in 232 lanes, false in 24."),
    ("x = tl.load(x_ptr", "Program 3 loads x[768] to x[999]; 24 lanes are masked off (they point past the end of x)."),
    ("y = tl.load(y_ptr", "Program 3 loads y[768] to y[999]; 24 lanes are masked off (they point past the end of y)."),
    ("out = x + y", "Program 3 adds x and y lane by lane into out."),
    ("tl.store(out_ptr", "Program 3 stores out[768] to out[999]; 24 lanes are masked off (they point past the end of out)."),
]


@pytest.fixture
def fresh(fresh):
    return reaching(fresh)


def said(page) -> str:
    return page.locator(SENTENCE).inner_text().replace("\xa0", " ")


def focused(page) -> str:
    return page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''")


def complaints_of(page) -> list[str]:
    """What the page will have complained of, in its console and by errors that nothing caught."""
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


def tab_to(page, label: str) -> None:
    for _ in range(80):
        page.keyboard.press("Tab")
        if focused(page).startswith(label):
            return
    pytest.fail(f"Tab never reaches {label}")


def test_a_program_is_stepped_by_keyboard_alone(fresh):
    page = fresh(ADD)
    assert said(page) == "Program 0 adds x and y lane by lane into out.", "it opens on another program, or on empty boxes"
    tab_to(page, "Program 3")
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("Shift+Tab")
    assert focused(page).startswith("vector_add_kernel, step by step")
    assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    page.keyboard.press("Home")
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
    page.locator(STEPPER).focus()
    page.get_by_role("button", name="Program 1", exact=True).click()
    page.keyboard.press("Home")
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
    open_on_a_still_clock(page, site.url + ADD)
    reach(page)
    page.clock.run_for(10_000)
    assert page.locator(".stepper-count").inner_text().startswith("Step 6 "), "it plays on its own"
    page.get_by_role("button", name="Program 3", exact=True).click()
    page.get_by_role("button", name="Restart").click()
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


def test_space_presses_a_choice_and_plays_from_the_one_made(fresh):
    page = fresh(ADD)
    page.get_by_role("button", name="Program 1", exact=True).focus()
    page.keyboard.press("Space")
    assert page.get_by_role("button", name="Program 1", exact=True).get_attribute("aria-pressed") == "true"
    assert page.get_by_role("button", name="Play").count() == 1, "it plays, and was asked for another program"
    page.keyboard.press("Space")
    assert page.get_by_role("button", name="Pause").count() == 1


def test_home_and_end_stay_in_the_picture(fresh):
    page = fresh(ADD)
    page.locator(STEPPER).focus()
    top = page.evaluate("scrollY")
    page.keyboard.press("End")
    assert page.locator(".stepper-count").inner_text().startswith("Step 7 of 7")
    page.keyboard.press("Home")
    assert page.locator(".stepper-count").inner_text().startswith("Step 1 of 7")
    assert page.evaluate("scrollY") == top


def test_playing_from_the_opening_begins_at_the_beginning_and_at_the_chosen_speed(site, fresh):
    page = fresh(None)
    open_on_a_still_clock(page, site.url + ADD)
    reach(page)
    page.get_by_role("button", name="Play").click()
    assert page.locator(COUNT).inner_text() == "Step 1 of 7"
    page.locator(".speed").select_option("4")
    page.clock.run_for(2_000)
    assert page.locator(COUNT).inner_text() == "Step 5 of 7"


def test_the_slider_leads_through_the_steps(fresh):
    page = fresh(ADD)
    tab_to(page, "Step")
    while focused(page) != "Step":
        page.keyboard.press("Tab")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert said(page).startswith("Program 0 works out offsets")
    assert page.locator(".scrub").get_attribute("aria-valuetext") == "Step 2 of 7"


@pytest.mark.parametrize("address", STEPPED)
def test_code_and_memory_stand_on_one_screen_and_nothing_repeats_the_listing(address, fresh):
    page = fresh(address)
    whole = page.locator(f"program-stepper {STEPPER}").bounding_box()
    assert whole["height"] <= 640
    code, lit, picture = (page.locator(part).first.bounding_box() for part in (".stepper-code", LIT, ".stepper-picture"))
    assert code["x"] + code["width"] <= picture["x"], "the code does not stand beside the memory"
    for part in (lit, picture):
        assert whole["y"] <= part["y"] and part["y"] + part["height"] <= whole["y"] + whole["height"]
    assert page.locator(".stepper-picture :is(.cell, .seg, .mark).on").count() > 1, "it opens on empty boxes"
    for bar in ("[data-together]", "[data-pick='0'].tint"):  # all programs at once, and back
        page.locator(bar).click()
        assert page.locator(f"program-stepper {STEPPER}").bounding_box()["height"] <= 640
    kernel = page.locator(f"program-stepper {STEPPER}").get_attribute("aria-label").partition(",")[0]
    assert page.locator("pre", has_text=f"def {kernel}(").count() == 1, "the listing stands there twice"


def test_a_cell_says_which_line_touched_it_and_leads_there(fresh):
    page = fresh(ADD)
    page.locator("[data-tensor=out]").nth(3).click()  # waits until nothing moves any more
    said_of_it = page.locator(ANSWER).inner_text()
    assert said_of_it.startswith("out[8") and "Program 3, step 7" in said_of_it and "tl.store(out_ptr" in said_of_it
    assert said(page) == ADD_STEPS[-1][1]
    box = page.locator("[data-block=x]").bounding_box()
    page.locator("[data-block=x]").click(position={"x": 1, "y": box["height"] / 2})
    assert page.locator(ANSWER).inner_text().startswith("x, lane 0: 2.75, from x[768].")
    assert page.locator(COUNT).inner_text() == "Step 4 of 7"


def test_cells_and_lines_are_reached_by_keyboard(fresh):
    page = fresh(SOFTMAX)
    page.locator(".stepper-picture").focus()
    step = page.locator(COUNT).inner_text()
    for _ in range(30):
        page.keyboard.press("ArrowDown")
    assert page.locator(ANSWER).inner_text().startswith("y[3,\xa00]"), "the arrows do not lead through blocks and tensors"
    assert page.locator(COUNT).inner_text() == step, "an arrow in the picture steps"
    page.keyboard.press("Enter")
    assert said(page).startswith("Program 3 stores y[3, 0] to y[3, 12]")
    page.locator(LIT).focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert said(page).startswith("Program 3 adds up its 16 lanes")
    page.keyboard.press("Enter")
    assert said(page).startswith("Program 3 works out y"), "the line's next step"


@pytest.mark.parametrize("chosen", ["by mouse", "by keyboard"])
def test_escape_puts_a_chosen_cell_away(chosen, fresh):
    page = fresh(ADD)
    complaints = complaints_of(page)
    if chosen == "by mouse":
        page.locator("[data-block=x]").click()
    else:
        page.locator(".stepper-picture").focus()
        page.keyboard.press("ArrowDown")
    page.locator(".stepper-picture .cursor").wait_for()
    step = page.locator(COUNT).inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".stepper-picture .cursor").count() == 0
    assert page.locator(ANSWER).inner_text().startswith("Click a lane")
    page.keyboard.press("Escape")  # there is none to put away
    page.keyboard.press("ArrowDown")
    assert page.locator(".stepper-picture .cursor").count() == 1, "after Escape no cell can be chosen"
    assert page.locator(COUNT).inner_text() == step
    assert complaints == []


def test_keys_in_a_picture_without_cells_do_nothing(site, fresh):
    page = fresh(None)
    recording = json.loads((site.folder / "baked" / "cpu" / "traces" / "first_kernel" / "add.json").read_text(encoding="utf-8"))
    recording["tensors"] = {}
    for program in recording["programs"]:
        program["events"] = program["events"][:1]  # the program's number, and nothing else
    page.route(RECORDINGS, lambda route: route.fulfill(json=recording))
    complaints = complaints_of(page)
    page.goto(site.url + ADD)
    reach(page)
    page.locator(".stepper-picture").focus()
    for key in ("ArrowDown", "ArrowLeft", "Enter", "Escape"):
        page.keyboard.press(key)
    assert page.locator("[data-columns], .cursor").count() == 0
    assert said(page) == "Program 0 asks for its number: pid = 0."
    assert complaints == []


def test_all_programs_are_seen_at_once(fresh):
    page = fresh(ADD)
    page.locator("[data-together]").click()
    page.locator(STEPPER).focus()
    page.keyboard.press("End")
    told = page.locator(".everyone li").all_inner_texts()
    assert len(told) == 4 and "stores out[768] to out[999]" in told[3]
    drawn = page.locator("[data-tensor=out] .tint.now")
    colors = drawn.evaluate_all("all => all.map((e) => getComputedStyle(e).backgroundImage)")
    assert len(colors) == len(set(colors)) == 4
    assert page.locator(LIT).first.get_attribute("data-at") == "0 1 2 3"
    page.get_by_role("button", name="Only program 2").click()
    assert said(page) == "Program 2 stores out[512] to out[767]."


def test_the_listing_keeps_its_copy_buttons_in_the_picture(site, fresh):
    page = fresh(ADD)
    copied = press_copy(page, page.locator(".stepper .highlight[data-program]"), 1)
    assert copied == (site.folder / "programs" / "first_kernel" / "launch.py").read_text(encoding="utf-8")


def test_on_the_home_page_it_plays(site, fresh):
    page = fresh(None)
    open_on_a_still_clock(page, site.url)
    reach(page)
    page.clock.run_for(6_000)
    assert page.get_by_role("button", name="Pause").count() == 1 and said(page).startswith("Program 1 ")


def test_space_never_scrolls(fresh):
    page = fresh(ADD)
    page.get_by_role("button", name="Program 2", exact=True).click()
    top = page.evaluate("scrollY")
    page.keyboard.press("Space")
    assert page.get_by_role("button", name="Pause").count() == 1
    page.keyboard.press("Space")
    assert page.get_by_role("button", name="Play").count() == 1
    page.get_by_role("button", name="Restart").click()
    page.get_by_role("button", name="Step forward").focus()
    page.keyboard.press("Space")
    assert said(page) == "Program 2 works out offsets, a number for each lane: 512 to 767."
    assert page.evaluate("scrollY") == top


def test_undefined_lanes_and_both_colors_are_explained(fresh):
    page = fresh(ADD)
    page.get_by_role("button", name="Program 3", exact=True).click()
    assert page.locator(".block .seg.masked", has_text="?").count() == 3, "x, y and their sum"
    legend = page.locator(".legend").inner_text()
    assert "undefined: nothing was loaded, nothing will be stored" in legend
    assert "on chip, this step" in legend and "in memory, this step" in legend
    assert page.get_by_text("offset in x").count() == 0, "offsets are shown where nothing is loaded or stored"


# The program for 24 lanes too many, under a mask that leaves all of them or only the first of them on.
PAST = {
    "all": [["on", 768, 232, 1], ["outside", 1000, 24, 1]],
    "one": [["on", 768, 232, 1], ["outside", 1000, 1, 1], ["masked", 1001, 23, 1]],
}
WRITTEN = """(strip) => [...strip.querySelectorAll("b")].filter((b) => b.textContent).map((b) => {
  const { left, right } = b.getBoundingClientRect();
  const grounds = [b, b.parentElement].map((e) => getComputedStyle(e).backgroundColor);
  const ground = grounds.find((color) => color !== "rgba(0, 0, 0, 0)");
  const linear = (n) => (n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
  const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((n) => linear(n / 255))
    .reduce((sum, n, i) => sum + n * [0.2126, 0.7152, 0.0722][i], 0.05);
  const [dark, bright] = [getComputedStyle(b).color, ground].map(light).sort((one, other) => one - other);
  return { text: b.textContent, left, right, outside: b.parentElement.matches(".outside"), contrast: bright / dark };
})"""


@pytest.mark.parametrize("palette, width", [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize("past, offsets", [("all", ["768", "999", "1023"]), ("one", ["768", "1000", "1023"])])
def test_numbers_of_lanes_outside_are_read(past, offsets, palette, width, site, fresh):
    page = fresh(None, palette, width)
    recording = json.loads((site.folder / "baked" / "cpu" / "traces" / "first_kernel" / "add.json").read_text(encoding="utf-8"))
    for event in recording["programs"][3]["events"]:
        if "lanes" in event:
            event["lanes"] = PAST[past]
    page.route(RECORDINGS, lambda route: route.fulfill(json=recording))
    page.emulate_media(reduced_motion="reduce")
    page.goto(site.url + ADD)
    reach(page)
    page.get_by_role("button", name="Program 3", exact=True).click()
    for _ in range(2):
        page.get_by_role("button", name="Step back").click()
    written = page.locator(".offsets .strip").evaluate(WRITTEN)
    assert [one["text"] for one in written] == offsets
    for one, next_one in itertools.pairwise(written):
        assert one["right"] <= next_one["left"] + 1, "printed over each other"
    assert min(one["contrast"] for one in written if one["outside"]) > 4.5
    drawn = page.locator(".offsets .seg.outside").bounding_box()
    assert drawn["width"] < 35 if past == "all" else drawn["width"] < 8, "wider than its lanes"


def test_on_a_phone_program_and_line_stay_in_view(fresh):
    page = fresh(ADD, width=390)
    page.get_by_role("button", name="Program 3", exact=True).click()
    for _ in range(2):
        page.get_by_role("button", name="Step back").click()
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
    reach(page)
    page.locator(STEPPER).focus()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.querySelector('program-stepper').getAnimations({ subtree: true }).length") == 0


@pytest.mark.parametrize("address", [ADD, SOFTMAX])
@pytest.mark.parametrize("palette", PALETTES)
def test_on_a_phone_it_fits_and_is_accessible_at_every_step(palette, address, fresh):
    page = fresh(address, palette, 390)
    page.emulate_media(reduced_motion="reduce")
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
    page.locator("program-stepper").scroll_into_view_if_needed()
    page.wait_for_selector(".stepper-note")
    assert "could not be loaded" in page.locator(".stepper-note").inner_text()
    assert "24 lanes are masked off" in page.locator("program-stepper .still").inner_text()


def test_instant_navigation_brings_it_along(site, fresh):
    page = fresh(None)
    open_for_instant(page, site.url + ADD)
    for name, kernel in (("Fused softmax", "row_softmax_kernel"), ("Your first kernel", "vector_add_kernel")):
        page.locator(".md-nav--primary a", has_text=re.compile(rf"^\s*{name}\s*(\d|$)")).click()
        page.wait_for_function("name => document.title.startsWith(name)", arg=name)
        page.locator("program-stepper").scroll_into_view_if_needed()
        page.locator(f"{STEPPER}[aria-label^='{kernel}']").focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        assert page.locator(".stepper-count").inner_text().startswith("Step 2 ")
    assert page.evaluate("window.marker") is True, "the whole page was loaded anew"


# Kernels of two dimensions, with loops, products, atomics and views, which may stand on no page yet


@pytest.fixture(scope="module")
def forms(site) -> dict[str, str]:
    """The address of a page for each recording of tests/scripts/recorded_kernels.py."""
    program = Path(__file__).parent.parent / "scripts" / "recorded_kernels.py"
    environment = os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(records.ROOT)}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    found = {}
    for name, recording in json.loads(done.stdout).items():
        (site.folder / f"form-{name}.json").write_text(json.dumps(recording), encoding="utf-8")
        figure = stepper.element_html(name, recording | {"environment": {"triton": "3"}}, f"../../form-{name}.json")
        found[name] = add_page(site, f"form-{name}", figure)
    return found


def through(page) -> list[str]:
    """Every sentence of the program that is shown."""
    page.get_by_role("button", name="Restart").click()
    told = [said(page)]
    for _ in range(int(page.locator(".stepper-count").inner_text().split(" of ")[1].split(",")[0]) - 1):
        page.get_by_role("button", name="Step forward").click()
        told.append(said(page))
    return told


def test_a_program_is_chosen_in_a_grid_by_keyboard_and_by_pointer(forms, fresh):
    page = fresh(forms["copy"])
    tab_to(page, "Program 0, 0")
    for key, program in (
        ("ArrowRight", "0, 1"),
        ("ArrowDown", "1, 1"),
        ("ArrowDown", "1, 1"),
        ("ArrowRight", "1, 2"),
        ("ArrowUp", "0, 2"),
    ):
        page.keyboard.press(key)
        assert focused(page) == f"Program {program}" and said(page).startswith(f"Program {program} loads x")
    assert page.locator(".choices [aria-pressed=true]").inner_text() == "0,2"
    page.keyboard.press("Tab")
    assert not focused(page).startswith("Program"), "the grid takes more than one stop of the tab key"
    page.get_by_role("button", name="Program 1, 2", exact=True).click()
    assert said(page).startswith("Program 1, 2 loads x[4:6, 8:10]")


def test_a_tile_is_said_and_drawn_on_its_tensor(forms, fresh):
    page = fresh(forms["copy"])
    page.get_by_role("button", name="Program 1, 2", exact=True).click()
    told = through(page)
    assert told[3:] == [
        "Program 1, 2 works out mask: true in 4 lanes, false in 12.",
        "Program 1, 2 loads x[4:6, 8:10]; 12 lanes are masked off.",
        "Program 1, 2 stores y[4:6, 8:10]; 12 lanes are masked off.",
    ]
    sheet = page.locator(".where.memory + .sheets .piece", has_text="y").last.locator(".sheet")
    whole, mark = (sheet.locator(part).bounding_box() for part in (".extent", ".mark.on.now"))
    assert mark["x"] - whole["x"] == pytest.approx(0.8 * whole["width"], abs=1)
    assert mark["y"] - whole["y"] == pytest.approx(whole["height"] * 4 / 6, abs=1)
    assert (mark["width"], mark["height"]) == pytest.approx((0.2 * whole["width"], whole["height"] / 3), abs=1)
    assert sheet.locator(".mark.masked.now").count() >= 1


def test_a_loop_shows_its_rounds_and_its_variable(forms, fresh):
    page = fresh(forms["matmul"])
    page.get_by_role("button", name="Program 1, 1", exact=True).click()
    told = through(page)
    rounds = [words.partition("loop: ")[2] for words in told if "begins a round" in words]
    assert rounds == ["start = 0.", "start = 16.", "start = 32."]
    assert told.count("Program 1, 1 multiplies a block of 16 by 16 with one of 16 by 16, which makes 16 by 16: c.") == 3
    assert "Program 1, 1 loads b[32:40, 16:20]; 224 lanes are masked off and filled with 0." in told
    page.get_by_role("button", name="Step back").click()
    assert page.locator(".stepper-count").inner_text().endswith(", start = 32")
    assert page.locator(".scalars", has_text="start = 32").count() == 1
    assert page.locator(LIT).inner_text().strip() == "c = tl.dot(a, b, c)"


def test_views_atomics_axes_and_transposes_are_said(forms, fresh):
    told = {}
    for name in ("sum_rows", "histogram", "transpose", "nested"):
        page = fresh(forms[name])
        told[name] = through(page)
    assert "Program 0 loads x[0:4, 8:10]; 8 lanes are masked off and filled with 0." in told["sum_rows"]
    assert "Program 0 adds up its 4 by 4 lanes along axis 1, which leaves 4." in told["sum_rows"]
    assert told["histogram"][-1].startswith("Program 0 atomically adds 16 lanes to 8 elements from counts[0] to counts[9]")
    assert "Program 0, 0 turns x into y: its rows become columns." in told["transpose"]
    assert told["transpose"][0] == "Program 0, 0 asks for its number along axis 0: pid_m = 0."
    assert "Program 0 loads x[0] to x[3]; 4 lanes point outside x." in told["nested"]


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("name", ["copy", "matmul", "sum_rows", "histogram"])
def test_every_form_fits_a_phone_and_is_accessible(name, palette, forms, fresh):
    page = fresh(forms[name], palette, 390)
    page.emulate_media(reduced_motion="reduce")
    page.locator(STEPPER).focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.locator(".stepper-picture").evaluate("e => e.scrollWidth <= e.clientWidth"), "the picture is cut off"
        assert page.evaluate("document.querySelector('program-stepper').getAnimations({ subtree: true }).length") == 0
    found = Axe().run(page, context="program-stepper").response["violations"]
    assert [problem["id"] for problem in found if problem["impact"] in ("serious", "critical")] == []


def test_nothing_is_loaded_before_the_reader_comes_near(site, browser):
    figure = (records.ROOT / "docs" / "generated" / "traces" / "first_kernel" / "add.html").read_text(encoding="utf-8")
    address = add_page(site, "far", f'<div style="height: 3000px"></div>{figure}')
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site.url + address, wait_until="networkidle")
    assert not [url for url in asked if "stepper.js" in url or "/traces/" in url]
    assert page.locator("program-stepper .still").count() == 1
    reach(page)
    assert [url for url in asked if "/traces/" in url] == [site.url + "baked/cpu/traces/first_kernel/add.json"]
    page.close()
