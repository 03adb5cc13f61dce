"""Questions are answered by keyboard, on a phone, in both palettes, and can be read without scripts."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from scripts.pages import questions
from tests.browser.conftest import PALETTES, open_for_instant

PAGE = "course/masking/"
ASKED = questions.of_chapter("masking")
RIGHT = ASKED[0].right
WRONG = (RIGHT + 1) % len(ASKED[0].choices)
SAID, CHOICES = ".question-said", ".question-choices button"


def plain(text: str) -> str:
    return re.sub(r"[`*]", "", text)


def reach(page):
    """Come near the questions, which load then; return the first."""
    page.locator("blockwise-question").first.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelectorAll('blockwise-question .question-said').length > 2")
    return page.locator("blockwise-question").first


def test_by_keyboard_a_wrong_answer_and_then_the_right_one(site, fresh):
    page = fresh(PAGE)
    asked = reach(page)
    said = asked.get_by_role("status")
    assert said.inner_text() == "" and asked.locator("details").is_hidden() and asked.locator(".question-show").is_hidden()
    assert asked.get_attribute("role") == "group" and page.get_by_role("group", name=plain(ASKED[0].ask)).count() == 1
    asked.locator(CHOICES).first.focus()
    for _ in range(WRONG):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert said.inner_text() == f"{'ABC'[WRONG]} is not the answer. {plain(ASKED[0].choices[WRONG].why)}"
    assert asked.get_by_role("button", pressed=True).get_by_role("img", name="wrong").count() == 1
    for _ in range(len(ASKED[0].choices) - WRONG):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Show the answer"
    page.keyboard.press("Space")
    why = plain(ASKED[0].choices[RIGHT].why)
    assert said.inner_text() == f"The answer is {'ABC'[RIGHT]}. {why}"
    assert asked.locator(".question-show").is_hidden() and page.evaluate("document.activeElement.ariaPressed") == "true"
    page.keyboard.press("Enter")
    assert said.inner_text() == f"{'ABC'[RIGHT]} is right. {why}"
    assert asked.get_by_role("button", pressed=True).get_by_role("img", name="right").count() == 1


@pytest.mark.parametrize("palette", PALETTES)
def test_on_a_phone_they_fit_and_are_accessible(palette, site, fresh):
    page = fresh(PAGE, palette, 390)
    asked = reach(page)
    for number in (WRONG, RIGHT):
        asked.locator(CHOICES).nth(number).click()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    found = Axe().run(page, context=".questions").response["violations"]
    assert [problem["id"] for problem in found if problem["impact"] in ("serious", "critical")] == []


def test_instant_navigation_brings_them_along(site, fresh):
    page = fresh(None)
    open_for_instant(page, f"{site.url}course/hardware/")
    page.locator(".md-nav--primary a", has_text=re.compile(r"^\s*Masking")).click()
    page.wait_for_function("document.title.startsWith('Masking')")
    asked = reach(page)
    asked.locator(CHOICES).nth(RIGHT).click()
    assert "is right." in asked.locator(SAID).inner_text() and page.evaluate("window.marker") is True


def test_without_scripts_questions_and_answers_can_be_read(browser, site):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(site.url + PAGE)
    for asked, element in zip(ASKED, page.locator("blockwise-question").all(), strict=True):
        assert [plain(choice.text) for choice in asked.choices] == element.locator(".question-choices > li").all_inner_texts()
        element.locator("summary").click()
        shown = element.locator("details li").all_inner_texts()
        assert shown[asked.right] == f"Right. {plain(asked.choices[asked.right].why)}" and len(shown) == len(asked.choices)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
