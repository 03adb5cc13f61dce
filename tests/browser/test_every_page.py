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
    walk(page)

    assert page.locator("body").get_attribute("data-md-color-scheme") == PALETTES[palette]
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"wider than the window: {widest(page)}"
    assert serious(page) == []
    assert complaints == []
    assert strangers == []
    page.close()


def widest(page) -> list[str]:
    return page.evaluate(
        """[...document.querySelectorAll("article *")].filter((e) => e.getBoundingClientRect().right > innerWidth)
           .slice(0, 5).map((e) => e.outerHTML.slice(0, 120))"""
    )


def serious(page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:160]} {node.get('failureSummary', '')}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:5]
    ]
