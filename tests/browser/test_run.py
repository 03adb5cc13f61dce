"""Programs that run in the page: pressed as a reader presses, in Chromium, with the runtime that `make runtime` builds."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from scripts.provenance.labs import cells_of, version
from tests import turns
from tests.browser.conftest import PATIENCE, Site, open_for_instant, press_copy, settle
from tests.docs.pages import ROOT
from tests.needs import need_runtime

LESSON = "course/first-kernel/"
OWNERS, LAUNCH = "first_kernel/owners", "first_kernel/launch"
ENDED = re.compile(r"^(Done|Ended|Stopped|Solved|Not yet|It |Python gave up|The picture)")
LOADING = r"Loading Python and Triton, this once: \d+\.\d of \d+\.\d MB"
expect.set_options(timeout=PATIENCE)
MASK = "offsets < n_elements"
RUN = turns.files("runtime/*.*", "runtime/standins/**/*.py", "docs/assets/run.js", "docs/assets/run/*.*")


@pytest.fixture(scope="session")
def runtime(site: Site) -> Path:
    """The built runtime as a part of the site, whichever way the site was built."""
    built = need_runtime("npm and pip")
    folder = site.folder / "run" / built.name
    shutil.rmtree(site.folder / "run", ignore_errors=True)
    shutil.copytree(built, folder)
    whole = site.folder / "programs"
    programs = [path.relative_to(whole).with_suffix("").as_posix() for path in whole.rglob("*.py")]
    told = {"folder": f"run/{built.name}", "bytes": 0, "programs": programs}
    (site.folder / "data" / "run.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def readers(browser: Browser, runtime: Path) -> Iterator[BrowserContext]:
    """One reader, who comes back: the files are fetched once."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def page(readers: BrowserContext, site: Site) -> Iterator[Page]:
    """A page that complains of nothing and asks nobody else for anything."""
    made = readers.new_page()
    yield from watched(made, site)
    made.close()


def watched(made: Page, site: Site) -> Iterator[Page]:
    complaints, strangers = [], []
    ours = (site.url, "data:", "blob:")
    made.on("console", lambda message: complaints.append(message.text))
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on("request", lambda request: strangers.append(request.url) if not request.url.startswith(ours) else None)
    yield made
    assert complaints == []
    assert strangers == []


def block(page: Page, program: str) -> Locator:
    """The first block of a program, with its buttons."""
    found = page.locator(f".highlight[data-program='{program}']").first
    found.scroll_into_view_if_needed()
    found.locator("button.bw-run").first.wait_for()
    return found


def press(page: Page, program: str, words: str) -> Locator:
    block(page, program).get_by_role("button", name=re.compile(f"^{words} ")).click()
    panel = page.locator("run-panel")
    panel.wait_for()
    return panel


def button(panel: Locator, words: str) -> Locator:
    return panel.get_by_role("button", name=words, exact=True)


def state(panel: Locator) -> Locator:
    return panel.locator(".run-state [role=status]")


def ended(panel: Locator) -> str:
    """Wait until a run is over, and say what it says."""
    expect(state(panel)).to_have_text(ENDED)
    return state(panel).inner_text()


def write(panel: Locator, text: str) -> None:
    """Put a program into an editor, as a reader who pastes it."""
    editor = panel.locator(".cm-content")
    editor.focus()
    editor.press("Control+a")
    editor.page.keyboard.insert_text(text)


def recorded(program: str) -> list[str]:
    return json.loads((ROOT / "docs" / "baked" / "cpu" / f"{program}.json").read_text(encoding="utf-8"))["output"]


def printed(panel: Locator) -> list[str]:
    return panel.locator(".run-output").inner_text().splitlines()


def run(page: Page, site: Site, source: str) -> Locator:
    """Open the editor of a program and run a text in it."""
    page.goto(site.url + LESSON)
    panel = press(page, OWNERS, "Edit")
    write(panel, source)
    button(panel, "Run").click()
    return panel


def test_before_the_first_press_nothing_of_it_is_loaded(page, site, runtime):
    asked = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(site.url)))
    page.goto(site.url + LESSON)
    settle(page)
    block(page, OWNERS)
    page.wait_for_load_state("networkidle")
    assert [address for address in asked if address.startswith(("run/", "assets/run/", "assets/run.css"))] == []
    assert "assets/run.js" in asked and (ROOT / "docs/assets/run.js").stat().st_size < 8000


def test_the_first_run_says_how_far_it_is_and_prints_what_was_recorded(browser, site, runtime):
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    for page in watched(context.new_page(), site):
        page.goto(site.url + LESSON)
        page.evaluate(
            """() => { window.seen = []; new MutationObserver(() => {
                 const line = document.querySelector('.run-state');
                 if (line) seen.push([line.innerText.replace(/\\s+/g, ' ').trim(), !line.querySelector('progress').hidden]);
               }).observe(document.body, { subtree: true, childList: true, characterData: true }) }"""
        )
        begun = time.monotonic()
        panel = press(page, OWNERS, "Run")
        assert ended(panel).startswith("Done in ")
        print(f"cold: {time.monotonic() - begun:.1f} s")
        assert printed(panel) == recorded(OWNERS)
        assert "right answers, no speed" in panel.locator(".run-note").inner_text()
        seen = page.evaluate("seen")
        assert any(bar and re.fullmatch(LOADING, words) for words, bar in seen)
        begun = time.monotonic()
        button(panel, "Run").click()
        page.wait_for_function("document.querySelector('run-panel:not([busy]) .run-output')")
        print(f"warm: {time.monotonic() - begun:.2f} s")
    context.close()


def test_the_keyboard_breaks_the_mask_reads_the_line_and_mends_it(page, site):
    page.goto(site.url + LESSON)
    opener = block(page, LAUNCH).get_by_role("button", name=re.compile("^Edit "))
    opener.focus()
    page.keyboard.press("Enter")
    panel = page.locator("run-panel")
    panel.locator(".cm-content:focus").wait_for()
    # The block shows a kernel that nothing launches, so the whole program runs.
    assert panel.locator(".run-name").inner_text() == f"{LAUNCH}.py"
    page.keyboard.press("Control+End")  # the editor draws the lines in view alone
    expect(panel.locator(".cm-content")).to_contain_text("vector_add_kernel[grid]")
    whole = (site.folder / "programs" / f"{LAUNCH}.py").read_text(encoding="utf-8")
    broken = whole.replace(f"mask = {MASK}", "mask = offsets >= 0")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(broken)
    page.keyboard.press("Control+Enter")
    assert ended(panel).startswith("Ended with an error")
    problem = panel.locator(".run-problem").inner_text()
    line = 1 + next(n for n, text in enumerate(broken.splitlines()) if "x = tl.load" in text)
    assert f"line {line}" in problem and "program 3" in problem and "232" in problem and "Usually: " in problem
    assert panel.locator(".run-hint a").evaluate("link => link.href").endswith("/errors/numbers/#missing-mask")
    assert panel.locator(".run-wrong").first.inner_text().strip() == "x = tl.load(x_ptr + offsets, mask=mask)"
    panel.locator(".run-line").first.press("Enter")
    assert "x = tl.load" in panel.locator(".cm-activeLine").inner_text()

    page.keyboard.press("Escape")
    page.keyboard.press("Tab")  # out of the editor, though Tab indents in it
    assert page.evaluate("!document.activeElement.closest('.cm-editor')")
    button(panel, "Reset").press("Enter")
    assert panel.locator(".cm-content:focus").count() == 1
    assert "offsets >= 0" not in panel.locator(".cm-content").inner_text()
    page.keyboard.press("Control+Enter")
    page.wait_for_function("document.querySelector('.run-output')?.innerText.includes('same as PyTorch: True')")
    button(panel, "Close").press("Enter")
    assert page.locator("run-panel").count() == 0 and page.evaluate("document.activeElement.matches('.bw-run')")


def test_a_loop_without_end_is_stopped_at_once_and_the_next_run_works(page, site):
    panel = run(page, site, "print('begun')\nwhile True:\n    pass\n")
    expect(panel.locator(".run-output")).to_have_text("begun\n")
    page.wait_for_timeout(5_000)  # meanwhile the next worker gets ready, which takes a second or two on an idle machine
    begun = time.monotonic()
    button(panel, "Stop").click()
    assert ended(panel) == "Stopped."
    assert time.monotonic() - begun < 2
    write(panel, "print(6 * 7)")
    begun = time.monotonic()
    button(panel, "Run").click()
    expect(panel.locator(".run-output")).to_have_text("42\n")
    print(f"after Stop: {time.monotonic() - begun:.1f} s")


@turns.taken(3, *RUN)
def test_a_loop_without_end_is_stopped_after_its_time(page, site):
    page.clock.install()
    page.goto(site.url + LESSON)
    panel = press(page, OWNERS, "Edit")
    write(panel, "while True:\n    pass\n")
    button(panel, "Run").click()
    expect(state(panel)).to_have_text("Running …")
    page.clock.run_for(31_000)
    assert ended(panel) == "Stopped after 30 seconds. That is all the time a run has here."
    write(panel, "print(6 * 7)")
    button(panel, "Run").click()
    page.clock.resume()
    expect(panel.locator(".run-output")).to_have_text("42\n")


MANY = """
import torch, triton, triton.language as tl

@triton.jit
def number(y_ptr):
    tl.store(y_ptr + tl.program_id(0), tl.program_id(0))

number[(1_000_000,)](torch.empty(1_000_000, dtype=torch.int32))
"""


def test_a_launch_that_is_too_large_for_the_page_is_named(page, site):
    page.clock.install()
    page.goto(site.url + LESSON)
    panel = press(page, OWNERS, "Edit")
    write(panel, MANY)
    button(panel, "Run").click()
    expect(state(panel)).to_have_text("Running the 1,000,000 programs of number …")
    page.clock.run_for(31_000)
    assert ended(panel).startswith("Stopped after 30 seconds. It was in the 1,000,000 programs of number, and")


@turns.taken(3, *RUN)
def test_a_worker_gives_way_to_another_after_many_runs(page, site):
    """What a program leaves where nothing is put back, an attribute of a module of Python's, is gone with its worker."""
    panel = run(page, site, "import string\nprint(string.__dict__.setdefault('runs', []).append(1) or len(string.runs))")
    counted = []
    for _ in range(52):
        assert ended(panel).startswith("Done")
        counted.append(int(panel.locator(".run-output").inner_text()))
        button(panel, "Run").click()
    assert counted[:50] == list(range(1, 51)) and counted[50:] == [1, 2]


BAD = {
    "prints without end": ("while True:\n    print('y' * 50)\n", None),
    "a huge tensor": ("import torch\ntorch.zeros(10**11)\n", "Ended with an error"),
    "leaves Python": ("import os\nos._exit(1)\n", "Ended with an error"),
    "a status": ("import sys\nsys.exit(3)\n", "Ended with an error"),
    "calls itself": ("def f():\n    return f()\nf()\n", "Ended with an error"),
    "not Python": ("x = = 2\n", "Ended with an error"),
    "the network": ("import urllib.request\nurllib.request.urlopen('http://example.org')\n", "Ended with an error"),
    "a megabyte": (f"x = '{'a' * 1_000_000}'\nprint(len(x))\n", "Done"),
}


@turns.taken(3, *RUN)
def test_the_page_outlives_bad_programs(page, site):
    page.goto(site.url + LESSON)
    panel = press(page, OWNERS, "Edit")
    for what, (source, words) in BAD.items():
        write(panel, source)
        button(panel, "Run").click()
        if words:
            page.wait_for_function("document.querySelector('run-panel:not([busy]) .run-state')?.innerText.trim()")
            assert ended(panel).startswith(words), what
        else:
            expect(panel.locator(".run-output")).to_contain_text("The rest is not shown")
            assert 200_000 <= len(panel.locator(".run-output").inner_text()) < 201_000
            button(panel, "Stop").click()
        write(panel, "print(6 * 7)")
        button(panel, "Run").click()
        expect(panel.locator(".run-output")).to_have_text("42\n")


TWICE = """
import torch, triton, triton.language as tl

@triton.jit
def half(x):
    return x * 0.5

@triton.jit
def first_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, half(tl.load(x_ptr + offsets, mask=offsets < n)), mask=offsets < n)

@triton.jit
def second_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(x_ptr + offsets, x + 1)

x = torch.zeros(10)
first_kernel[(3,)](x, 10, BLOCK=4)
second_kernel[(1,)](x, BLOCK=8)
first_kernel[(100,)](x, 10, BLOCK=4)
"""


def test_the_readers_own_launches_are_watched(page, site):
    panel = run(page, site, TWICE)
    assert ended(panel).endswith("It printed nothing.")
    button(panel, "Watch").click()
    stepper = panel.locator("program-stepper .stepper")
    stepper.wait_for()
    assert "first_kernel, step by step" in stepper.get_attribute("aria-label")
    assert panel.locator(".choices [data-pick]").count() == 3
    choice = panel.locator(".run-launches select")
    assert [words.split(", line")[0] for words in choice.locator("option").all_inner_texts()] == [
        "1: first_kernel, 3 programs", "2: second_kernel, 1 program", "3: first_kernel, 100 programs",
    ]  # fmt: skip
    choice.select_option("1")
    panel.locator(".stepper[aria-label^=second_kernel]").wait_for()
    choice.select_option("2")
    expect(panel.locator(".run-said")).to_have_text(re.compile("100|64"))


@turns.taken(3, *RUN)
def test_numbers_slide_and_the_picture_follows(page, site):
    page.goto(site.url + LESSON)
    figure = page.locator("#trace-first-kernel-add")
    figure.scroll_into_view_if_needed()
    figure.locator(".stepper:not(.still)").wait_for()
    caption = figure.locator("figcaption").inner_text()
    figure.get_by_role("button", name=re.compile("^Change the numbers")).click()
    panel = page.locator("number-panel")
    assert ended(panel).startswith("Done")
    expect(figure.locator(".stepper-given")).to_have_text("Launched with n_elements = 1000, BLOCK = 256")
    panel.get_by_label("BLOCK", exact=True).press("ArrowLeft")
    expect(figure.locator(".stepper-given")).to_have_text("Launched with n_elements = 1000, BLOCK = 128")
    assert figure.locator(".choices [data-pick]").count() == 8
    panel.get_by_label("elements", exact=True).press("Home")
    expect(figure.locator(".stepper-given")).to_have_text("Launched with n_elements = 1, BLOCK = 128")
    chosen = panel.get_by_label("mask", exact=True)
    listing = page.locator(f".highlight[data-program='{LAUNCH}']").first
    before = chosen.bounding_box()
    chosen.select_option("offsets >= 0")
    expect(panel.locator(".run-problem")).to_contain_text("program 0")
    assert "point outside" in figure.locator(".stepper-sentence").inner_text()
    # The page's listing has other lines than this run, and gives way to the run's own; the controls stay under the hand.
    assert chosen.bounding_box() == before
    assert listing.is_hidden() and "mask = offsets >= 0" in figure.locator(".stepper-code").inner_text()
    button(panel, "Reset").click()
    expect(figure.locator("figcaption")).to_be_visible()
    expect(figure.locator(f".stepper-code .highlight[data-program='{LAUNCH}']")).to_be_visible()
    assert chosen.bounding_box() == before
    assert figure.locator("figcaption").inner_text() == caption.replace(" Change the numbers", "")


def exercises(lab: str) -> list[tuple[str, str]]:
    """The exercises of a lab, as they are given and solved."""
    cells = cells_of(lab)
    given, solved = ([cell.text for cell in version(cells, kind) if cell.tag == "exercise"] for kind in (False, True))
    return list(zip(given, solved, strict=True))


def exercise(page: Page, number: int) -> Locator:
    """The panel of an exercise of a lab that is open, with its editor."""
    cell = page.locator(".lab-cell:has-text('YOUR TURN')").nth(number - 1)
    cell.scroll_into_view_if_needed()
    cell.get_by_role("button", name=re.compile("^Write and check")).click()
    panel = page.locator(f"lab-panel[aria-label='Exercise {number}']")
    panel.locator(".cm-content").wait_for()
    return panel


def stands_below_its_heading(page: Page, panel: Locator) -> bool:
    """Whether the task stands in the window, below the page's header, and the panel after it, without touching."""
    return page.wait_for_function(BELOW, arg=panel.element_handle()).json_value()


BELOW = """(panel) => {
  const parts = [panel];
  while (parts[0].tagName !== 'H2') parts.unshift(parts[0].previousElementSibling);
  const boxes = parts.filter((part) => part.checkVisibility()).map((part) => part.getBoundingClientRect());
  const apart = boxes.slice(1).every((box, i) => box.top - boxes[i].bottom > 8);
  return apart && boxes[0].top >= document.querySelector('.md-header').offsetHeight && boxes.at(-1).top < 0.7 * innerHeight;
}"""


@pytest.mark.parametrize("lab, most, kind", [("elementwise", 5, "Exercise"), ("puzzles", 6, "Puzzle")])
def test_a_lab_is_solved_in_its_page(lab, most, kind, page, site):
    count = len(exercises(lab))
    page.goto(f"{site.url}labs/{lab}/")
    page.evaluate("localStorage.clear()")
    opener = page.get_by_role("button", name=re.compile("^Solve this lab"))
    assert opener.bounding_box()["y"] < page.locator("p.files").bounding_box()["y"]
    opener.click()
    for number, (given, solved) in enumerate(exercises(lab)[:most], start=1):
        panel = page.locator(f"lab-panel[aria-label='{kind} {number}']")
        panel.locator(".cm-content:focus").wait_for()
        assert stands_below_its_heading(page, panel)
        assert panel.locator(".run-bar .run-name").inner_text() == f"{kind} {number} of {count}"
        if number == 1:
            assert panel.locator(".cm-content").inner_text().split() == given.split()
            button(panel, "Check").click()
            assert ended(panel) == "Not yet."
            assert "✗" in panel.locator(".run-verdict").inner_text()
            button(panel, "Hint").click()
            assert page.evaluate("document.activeElement.textContent") == "Hint"
        write(panel, solved)
        panel.locator(".cm-content").press("Control+Enter")
        expect(state(panel)).to_have_text("Solved.")
        assert panel.locator(".run-verdict").inner_text().startswith("✓ ")
        following = button(panel, f"Next {kind.lower()}")
        if number == count:
            assert following.is_hidden()
        elif number < most:
            following.click()
    ticked = page.evaluate("localStorage['blockwise.read'] ?? '[]'")
    assert ticked == (f'["labs/{lab}/"]' if most == count else "[]")
    assert page.locator(".run-lab").inner_text().startswith(f"{most} of {count} solved here.")

    for words, name in (("Download my notebook", f"{lab}.ipynb"), ("Download my .py file", f"{lab}.py")):
        with page.expect_download() as download:
            button(page.locator(".run-lab"), words).click()
        assert download.value.suggested_filename == name
        text = Path(download.value.path()).read_text(encoding="utf-8")
        if name.endswith(".ipynb"):
            text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
        assert [solved for _, solved in exercises(lab)[:most] if solved not in text] == []

    page.reload()
    first = page.locator(".lab-cell:has-text('YOUR TURN')").first
    first.scroll_into_view_if_needed()
    first.get_by_text("Go on here").click()
    panel = page.locator("lab-panel")
    assert panel.locator(".cm-content").inner_text().split() == exercises(lab)[0][1].split()
    page.on("dialog", lambda dialog: dialog.accept())
    button(page.locator(".run-lab"), "Reset all").click()
    assert page.locator(".run-lab").inner_text().startswith(f"0 of {count} solved here.")
    assert panel.locator(".cm-content").inner_text().split() == exercises(lab)[0][0].split()


def line_of(text: str, part: str) -> int:
    return 1 + next(n for n, line in enumerate(text.splitlines()) if part in line)


SLIPS = {
    "a missing parenthesis": (1, "tl.arange(0, BLOCK)\n", "tl.arange(0, BLOCK\n", "tl.arange(0, BLOCK", "SyntaxError"),
    "an indent too deep": (2, "    mask = offsets", "      mask = offsets", "mask = offsets", "IndentationError"),
    "an indent that fits nothing": (2, "    y = tl.load", "  y = tl.load", "y = tl.load", "IndentationError"),
}


@pytest.mark.parametrize("what", turns.part(list(SLIPS), 3, *RUN))
def test_a_slip_in_an_exercise_is_named_with_its_line(what, page, site):
    """It goes before the error of the check, which only lacks what the exercise should have made."""
    number, right, wrong, part, kind = SLIPS[what]
    solved = exercises("elementwise")[number - 1][1]
    assert solved.count(right) == 1
    page.goto(f"{site.url}labs/elementwise/")
    page.evaluate("localStorage.clear()")
    panel = exercise(page, number)
    write(panel, solved.replace(right, wrong))
    button(panel, "Check").click()
    assert ended(panel) == "Not yet."
    problem = panel.locator(".run-problem")
    assert problem.inner_text().startswith(f"{kind} in line {line_of(solved, part)}: ") and "NameError" not in panel.inner_text()
    assert part in panel.locator(".run-wrong").inner_text()
    panel.locator(".cm-content").press("Control+Home")
    problem.locator(".run-line").click()
    assert part in panel.locator(".cm-activeLine").inner_text()
    assert panel.locator(".cm-content:focus").count() == 1
    write(panel, solved)
    button(panel, "Check").click()
    expect(state(panel)).to_have_text("Solved.")


@turns.taken(3, *RUN)
def test_what_an_earlier_exercise_lacks_is_named_there(page, site):
    """Step 3 of lab 1 launches the kernel of step 2, and its own text is right."""
    (_, second), (_, third) = exercises("elementwise")[1:3]
    page.goto(f"{site.url}labs/elementwise/")
    page.evaluate("localStorage.clear()")
    panel = exercise(page, 2)
    write(panel, second.replace("    mask = offsets", "      mask = offsets"))
    button(panel, "Close").click()
    panel = exercise(page, 3)
    write(panel, third)
    button(panel, "Check").click()
    assert ended(panel) == "Not yet."
    said = f"IndentationError in line {line_of(second, 'mask = offsets')} of exercise 2: "
    assert panel.locator(".run-problem").inner_text().startswith(said)
    panel.locator(".run-line").click()
    there = page.locator("lab-panel[aria-label='Exercise 2']")
    there.locator(".cm-content:focus").wait_for()
    assert "mask = offsets" in there.locator(".cm-activeLine").inner_text()


def test_a_cell_that_asks_for_a_verdict_gets_it(page, site):
    """Step 3 of lab 2 says what to do first, and then compares."""
    page.goto(f"{site.url}labs/softmax/")
    page.evaluate("localStorage.clear()")
    cell = page.locator(".lab-cell:has-text('if step_2')")
    cell.scroll_into_view_if_needed()
    cell.get_by_role("button", name=re.compile("^Run ")).click()
    panel = page.locator("lab-panel[aria-label='Output of this cell']")
    assert ended(panel).startswith("Done in ")
    assert printed(panel)[-1] == "Finish step 2 first."
    write(exercise(page, 2), exercises("softmax")[1][1])
    button(panel, "Run").click()
    expect(panel.locator(".run-output")).to_contain_text("largest difference: ")


def test_instant_navigation_keeps_what_is_loaded(page, site):
    open_for_instant(page, site.url + LESSON)
    panel = press(page, OWNERS, "Run")
    assert ended(panel).startswith("Done")
    page.locator("a[rel=next]").first.click()
    page.wait_for_function("!location.pathname.includes('first-kernel')")
    page.locator(".md-nav--primary a[href$='course/masking/'], .md-nav--primary a[href$='../masking/']").first.click()
    page.wait_for_function("location.pathname.includes('masking')")
    assert page.evaluate("window.marker"), "a full load"
    begun = time.monotonic()
    panel = press(page, "masking/largest", "Run")
    assert ended(panel).startswith("Done")
    print(f"on the next page: {time.monotonic() - begun:.2f} s")
    assert printed(panel) == recorded("masking/largest")
    box = panel.locator(".run-main").bounding_box()
    assert box and page.locator(".run-main").evaluate("(e) => getComputedStyle(e).backgroundColor") != "rgba(0, 0, 0, 0)"


@turns.taken(3, *RUN)
def test_after_the_first_visit_no_file_is_asked_for_again(page, site, readers):
    """The server is gone: what was fetched once is kept in the browser."""
    asked = []
    page.route(f"{site.url}run/**", lambda route: (asked.append(route.request.url), route.abort()))
    page.goto(site.url + LESSON)
    panel = press(page, OWNERS, "Run")
    assert ended(panel).startswith("Done")
    readers.set_offline(True)
    try:
        panel.get_by_role("button", name="Edit", exact=True).click()
        write(panel, "while True:\n    pass")
        button(panel, "Run").click()
        expect(state(panel)).to_have_text("Running …")
        button(panel, "Stop").click()
        write(panel, "print(6 * 7)")
        button(panel, "Run").click()
        expect(panel.locator(".run-output")).to_have_text("42\n")
    finally:
        readers.set_offline(False)
    assert asked == []


@pytest.mark.parametrize("harm", turns.part(["missing", "damaged"], 2, *RUN))
def test_a_file_that_is_missing_or_damaged_is_named(harm, fresh, site, runtime):
    page = fresh(None)
    answers = {"missing": {"status": 404}, "damaged": {"body": "x" * 1000}}
    page.route("**/run/*/bundle.zip", lambda route: route.fulfill(**answers[harm]))
    page.goto(site.url + LESSON)
    panel = press(page, OWNERS, "Run")
    assert ended(panel) == "It cannot run here."
    assert "bundle.zip is" in panel.locator(".run-problem").inner_text()
    assert press_copy(page, block(page, OWNERS), 1) == (site.folder / "programs" / f"{OWNERS}.py").read_text(encoding="utf-8")
    page.unroute("**/run/*/bundle.zip")
    button(panel, "Run").click()
    expect(panel.locator(".run-output")).to_contain_text("program 3")


def test_without_the_runtime_nothing_is_offered(fresh, site):
    page = fresh(None)
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.route("**/data/run.json", lambda route: route.fulfill(json={"folder": None}))
    for address in (LESSON, "labs/elementwise/"):
        page.goto(site.url + address)
        settle(page)
        page.wait_for_load_state("networkidle")
        assert page.locator(".bw-run, .bw-slides, .bw-solve button").count() == 0
    assert complaints == []


def test_firefox_runs_it_too(site, runtime):
    """A short run by its own protocol, which Playwright does not speak with the Firefox that is installed."""
    found = os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
    assert found, "install Firefox (`apt install firefox-esr`), or name one in FIREFOX"
    here = Path(__file__).parent
    subprocess.run(["npm", "ci", "--silent", "--prefix", str(here)], check=True)
    command = ["node", str(here / "visit.mjs"), "firefox", found, site.url + LESSON, OWNERS]
    done = subprocess.run(command, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["cold"]["printed"].splitlines() == recorded(OWNERS)
    assert told["wrong"]["said"].startswith("Ended with an error") and "line 2" in told["wrong"]["problem"]
    assert told["endless"]["said"] == "Stopped."
    assert told["again"]["printed"] == "42\n"
    assert told["complaints"] == []
    print(f"Firefox: cold {told['cold']['seconds']:.1f} s, after Stop {told['again']['seconds']:.1f} s")


@pytest.mark.parametrize("palette, width", turns.part([("light", 390), ("dark", 1280)], 2, *RUN))
def test_it_fits_and_can_be_read(palette, width, fresh, site, runtime):
    page = fresh(LESSON, palette, width)
    panel = press(page, OWNERS, "Edit")
    write(panel, TWICE + "x.nothing_of_that_name()\n")
    button(panel, "Run").click()
    assert ended(panel).startswith("Ended")
    button(panel, "Watch").click()
    panel.locator("program-stepper .stepper").wait_for()
    figure = page.locator("#trace-first-kernel-add")
    figure.get_by_role("button", name=re.compile("^Change the numbers")).click()
    assert ended(page.locator("number-panel")).startswith("Done")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    found = [one for one in Axe().run(page, context="article").response["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []
