"""Every copy button of a block gives what it says: its published text, byte for byte, or what is shown."""

import json

import pytest
from playwright.sync_api import Locator

from tests import turns
from tests.browser.conftest import press_copy, settle
from tests.browser.test_every_page import ADDRESSES
from tests.docs import pages
from tests.docs.test_examples import example_of

BLOCKS = ".language-python.highlight:has(pre):not(.doc *)"  # the reference's examples belong to no program
NAMES = """(blocks) => [...document.querySelectorAll(`${blocks} button[data-md-type=copy]`)].map((button) => [
  button.textContent, button.title, button.ariaLabel, button.disabled])"""


def open_tab(block: Locator) -> None:
    """Choose the tab that a block stands in, if it stands in one."""
    block.evaluate(
        """(block) => {
             const tab = block.closest('.tabbed-block');
             if (!tab) return;
             const number = [...tab.parentElement.children].indexOf(tab);
             tab.closest('.tabbed-set').querySelectorAll(':scope > input')[number].click();
           }"""
    )


def lines(text: str) -> int:
    return len(text.splitlines())


def names(what: str, text: str, more: str = "") -> list:
    """What stands on a button and what is said of it."""
    count = lines(text)
    words = f"{what} · {count} {'line' if count == 1 else 'lines'}"
    said = f"Copy {words}{more}"
    return [words, said, said, False]


# What a button gives is made the same way for every page, and tests/snippets/test_blocks.py reads every block's text. So here
# every button of a few pages is pressed, of those that changed lately first.
PRESSED = turns.few(24, ADDRESSES, lambda address: [pages.file_of(address)])


@pytest.mark.parametrize("address", PRESSED)
def test_every_button_copies_what_it_says(address, site, context_of):
    page = context_of("light", 1280).new_page()
    page.goto(site.url + address)
    stray = page.locator(".highlight + a.program").all_inner_texts()
    assert stray == [], "leave a blank line between the block and the link"
    settle(page)
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true })")
    file = site.folder / "data" / "blocks" / f"{address.strip('/') or 'index'}.json"
    published = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    blocks = page.locator(BLOCKS).all()
    assert [block.get_attribute("data-program") for block in blocks] == [block["program"] for block in published]
    expected = []
    for block, own in zip(blocks, published, strict=True):
        open_tab(block)
        assert press_copy(page, block) == own["text"], own["program"]
        whole = (site.folder / "programs" / f"{own['program']}.py").read_bytes()
        assert press_copy(page, block, 1).encode() == whole, own["program"]
        expected += [names("this block", own["text"]), names("whole file", whole.decode())]
    assert page.evaluate(NAMES, BLOCKS) == expected
    page.close()


def test_an_example_of_the_reference_copies_itself(site, fresh):
    page = fresh("reference/kernels/")
    entry = page.locator(".doc-object", has=page.locator("[id='kernels.softmax.softmax.softmax']"))
    shown = entry.locator(".example .highlight").first
    shown.scroll_into_view_if_needed()  # a block gets its button when it is seen
    shown.locator("button[data-md-type=copy]").click()
    page.wait_for_function("navigator.clipboard.readText()")
    (example,) = example_of("kernels.softmax.softmax.softmax")
    assert page.evaluate("navigator.clipboard.readText()").strip() == example.source.strip()


def test_a_block_of_cpp_copies_itself_and_offers_its_program(site, fresh):
    page = fresh("course/cuda/")
    settle(page)
    block = page.locator(".language-cpp.highlight[data-program]").first
    open_tab(block)
    shown = block.locator("code").inner_text()
    assert press_copy(page, block).strip() == shown.strip()
    whole = (site.folder / "programs" / "cuda" / "row_sum.py").read_text(encoding="utf-8")
    assert press_copy(page, block, 1) == whole
    found = block.evaluate(NAMES.replace("document.querySelectorAll(`${blocks} ", "blocks.querySelectorAll(`"))
    assert found == [names("this C++", shown, " (part of cuda/row_sum.py)"), names("whole file", whole)]


@pytest.mark.parametrize("address", [address for address in pages.addresses() if address.startswith("labs/")])
def test_a_cell_of_a_lab_copies_itself_and_says_so(address, fresh):
    page = fresh(address)
    settle(page)
    cell = page.locator(".lab-cell").first
    text = cell.locator("code").inner_text()
    assert press_copy(page, cell).strip() == text.strip()
    found = cell.evaluate(NAMES.replace("document.querySelectorAll(`${blocks} ", "blocks.querySelectorAll(`"))
    assert found == [names("this cell", text.strip("\n"))]


def test_the_keyboard_copies_both(site, fresh):
    page = fresh("course/first-kernel/")
    settle(page)
    block = page.locator(BLOCKS).first
    program = block.get_attribute("data-program")
    whole = (site.folder / "programs" / f"{program}.py").read_text(encoding="utf-8")
    block.locator("button:not(:disabled):text('whole file ·')").wait_for()
    block.locator("button:text('this block')").focus()
    for key, said in (("Enter", "a part of"), ("Tab", ""), ("Space", whole)):
        page.evaluate("navigator.clipboard.writeText('')")
        page.keyboard.press(key)
        if said:
            page.wait_for_function("(said) => navigator.clipboard.readText().then((text) => text.includes(said))", arg=said)


PARTS = """(block) => {
  const range = document.createRange();
  range.selectNodeContents(block.querySelector('code'));
  const parts = [block.querySelector('nav'), block.querySelector('pre'), range];
  return parts.map((one) => one.getBoundingClientRect().toJSON());
}"""


@pytest.mark.parametrize("palette", ["light", "dark"])
def test_both_buttons_fit_a_phone_and_hide_no_code(palette, fresh):
    page = fresh("course/first-kernel/", palette, 390)
    settle(page)
    block = page.locator(BLOCKS).first
    block.locator("button:text('whole file ·')").wait_for()
    nav, code, line = block.evaluate(PARTS)
    assert code["left"] <= nav["left"] and nav["right"] <= code["right"]
    assert nav["bottom"] <= line["top"] + 4, "the buttons stand on the first line"
    counted = block.locator("button span", has_text="lines")
    assert [one.bounding_box()["y"] - nav["top"] < 10 for one in counted.all()] == [True, True], "no room for what is counted"


def test_the_button_of_a_command_hides_none_of_it_on_a_phone(fresh):
    page = fresh("", width=390)
    settle(page)
    block = page.locator(".highlight", has_text="pip install").first
    block.scroll_into_view_if_needed()
    block.locator("nav button").wait_for()
    nav, _, line = block.evaluate(PARTS)
    assert nav["bottom"] <= line["top"] + 2, "the button stands on the first line"


def test_what_cannot_be_loaded_is_said(site, fresh):
    page = fresh(None)
    page.route("**/programs/**", lambda route: route.fulfill(status=500))
    page.route("**/data/blocks/**", lambda route: route.fulfill(status=500))
    page.goto(site.url + "course/first-kernel/")
    settle(page)
    block = page.locator(BLOCKS).first
    block.locator("button[aria-label*='could not be loaded']").nth(1).wait_for()
    assert press_copy(page, block).strip() == block.locator("code").inner_text().strip()
    assert "as it is shown" in block.locator("button[data-md-type=copy]").first.get_attribute("aria-label")
    assert block.locator("button[data-md-type=copy]").nth(1).is_disabled()
