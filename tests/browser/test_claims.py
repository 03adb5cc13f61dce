"""The table of claims, narrowed to a verdict and a subject; by keyboard, on a phone, in both palettes, whole without scripts."""

from collections import Counter

import pytest
from axe_playwright_python.sync_playwright import Axe

from scripts.claims import ledger
from tests.browser.conftest import PALETTES

ADDRESS = "claims/"
SHOWN = "claims-table tbody tr[data-verdict]:not([hidden])"
GROUPS = "claims-table tbody:not([hidden])"


@pytest.fixture
def opened(fresh):
    def make(palette: str = "light", width: int = 1280):
        page = fresh(ADDRESS, palette, width)
        page.locator("claims-table").scroll_into_view_if_needed()
        page.wait_for_selector("claims-table form")
        return page

    return make


def test_a_verdict_and_a_subject_narrow_it_down(opened):
    found = ledger.entries()
    page = opened()
    assert page.locator(SHOWN).count() == len(found)
    for (verdict, subject), number in Counter((claim.verdict, claim.page) for claim in found).items():
        page.locator(f'claims-table input[name="claims-verdict"][value="{verdict}"]').check()
        page.locator(f'claims-table input[name="claims-page"][value="{subject}"]').check()
        assert (page.locator(SHOWN).count(), page.locator(GROUPS).count()) == (number, 1)
        assert page.locator("claims-table [role=status]").inner_text().startswith(f"{number} claim")
    for name in ("claims-verdict", "claims-page"):
        page.locator(f'claims-table input[name="{name}"][value="all"]').check()
    assert page.locator(SHOWN).count() == len(found)


def test_a_choice_is_reached_and_changed_by_keyboard(opened):
    page = opened()
    page.locator('claims-table input[name="claims-verdict"]:checked').focus()
    page.keyboard.press("ArrowRight")
    assert 0 < page.locator(SHOWN).count() < len(ledger.entries())


@pytest.mark.parametrize("palette", PALETTES)
def test_on_a_phone_it_fits_and_is_accessible(palette, opened):
    page = opened(palette, 390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    found = Axe().run(page, context="claims-table").response["violations"]
    assert [problem["id"] for problem in found if problem["impact"] in ("serious", "critical")] == []


def test_without_scripts_every_claim_stands(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url + ADDRESS)
    assert page.locator("claims-table tbody tr[data-verdict]").count() == len(ledger.entries())
    assert page.locator("claims-table form").count() == 0
    context.close()
