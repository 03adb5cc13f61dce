"""Every copy button of a Python block yields the published program, byte for byte."""

import pytest
from playwright.sync_api import Locator

from tests.browser.conftest import press_copy, settle
from tests.browser.test_every_page import ADDRESSES

BLOCKS = ".language-python.highlight:has(pre)"


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


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_button_copies_its_program(address, site, context_of):
    page = context_of("light", 1280).new_page()
    page.goto(site.url + address)
    stray = page.locator(".highlight + a.program").all_inner_texts()
    assert stray == [], "leave a blank line between the block and the link"
    settle(page)
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true })")
    for block in page.locator(BLOCKS).all():
        program = block.get_attribute("data-program")
        assert program, f"a Python block without data-program: {block.inner_text()[:200]}"
        open_tab(block)
        copied = press_copy(page, block)
        assert copied.encode() == (site.folder / "programs" / f"{program}.py").read_bytes(), program
    names = page.evaluate(
        "(blocks) => [...document.querySelectorAll(`${blocks} button[data-md-type=copy]`)].flatMap((button) => "
        "[button.title, button.ariaLabel])",
        BLOCKS,
    )
    assert set(names) <= {"Copy the whole file"}
    page.close()


def test_without_the_programs_a_button_copies_its_block_and_says_so(site, fresh):
    page = fresh(None)
    page.route("**/programs/**", lambda route: route.fulfill(status=500))
    page.goto(site.url + "course/first-kernel/")
    settle(page)
    block = page.locator(BLOCKS).first
    assert press_copy(page, block).strip() == block.locator("code").inner_text().strip()
    assert "could not be loaded" in block.locator("button[data-md-type=copy]").get_attribute("aria-label")
