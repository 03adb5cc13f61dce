"""What holds on every page, in both palettes, on a desk and on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import PALETTES, settle, walk
from tests.docs import pages

pytestmark = pytest.mark.xdist_group("browser")
ADDRESSES = [*pages.addresses(), "404.html"]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("address", ADDRESSES)
def test_page(address, palette, width, site, context_of):
    page = context_of(palette, width).new_page()
    complaints, strangers = [], []
    ours = (site.url, "data:", "blob:")
    page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: strangers.append(request.url) if not request.url.startswith(ours) else None)
    page.goto(site.url + address)
    settle(page)
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true })")
    try:
        walk(page)
    except AssertionError as error:
        pytest.fail(f"{error}\nthe console says: {complaints}", pytrace=False)

    assert page.locator("body").get_attribute("data-md-color-scheme") == PALETTES[palette]
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"wider than the window: {widest(page)}"
    assert serious(page, palette, width) == []
    assert complaints == []
    assert strangers == []
    page.close()


def widest(page) -> list[str]:
    return page.evaluate(
        """[...document.querySelectorAll("article *")].filter((e) => e.getBoundingClientRect().right > innerWidth)
           .slice(0, 5).map((e) => e.outerHTML.slice(0, 120))"""
    )


# Contrast is nearly all of the work, a piece of text at a time. The check has no answer for text in a drawing, nor for a
# table that scrolls on a phone over its shaded edges. Code has the same colors at any width, and long tables repeat themselves.
UNSEEN = {390: ["article svg", "article .scroll"], 1280: ["article svg", "article pre", "figure.chart tr:nth-child(n+12)"]}
CONTRAST = "color-contrast"


def serious(page, palette: str, width: int) -> list[str]:
    """What is wrong for someone who sees little or reads by ear. A palette changes colors alone, so the rest is asked once."""
    runs = [
        Axe().run(
            page,
            context={"exclude": [[one] for one in UNSEEN[width]]},
            options={"resultTypes": ["violations"], "runOnly": {"type": "rule", "values": [CONTRAST]}},
        )
    ]
    if palette == "light":
        runs.append(Axe().run(page, options={"resultTypes": ["violations"], "rules": {CONTRAST: {"enabled": False}}}))
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:160]} {node.get('failureSummary', '')}"
        for run in runs
        for violation in run.response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:5]
    ]


def test_text_that_is_hard_to_read_is_found(site, context_of):
    places = {1280: ["article p", "figure.chart td"], 390: ["article p", "article pre code span"]}
    for width, planted in places.items():
        page = context_of("light", width).new_page()
        page.goto(site.url + "course/fused-softmax/")
        settle(page)
        page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true })")
        for place in planted:
            page.evaluate("(place) => { document.querySelector(place).style.color = '#ccc' }", place)
        found = serious(page, "light", width)
        assert all(line.startswith(CONTRAST) for line in found) and len(found) >= len(planted)
        page.close()
