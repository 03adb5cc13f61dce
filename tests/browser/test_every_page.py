"""What holds on every page, in both palettes, on a desk and on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests import turns
from tests.browser.conftest import PALETTES, settle, walk
from tests.docs import pages

ADDRESSES = [*pages.addresses(), "404.html"]
WINDOWS = [("light", 1280), ("dark", 390)]
MADE_ALIKE = ("deeper/", "errors/", "reference/", "versions/", "claims/")
# A lesson is seen in both windows, and a page that is made of the same parts as others in one of them.
SEEN = [
    (address, *window)
    for number, address in enumerate(ADDRESSES)
    for window in ([WINDOWS[number % 2]] if address.startswith(MADE_ALIKE) else WINDOWS)
]


@pytest.mark.parametrize("address, palette, width", turns.few(60, SEEN, lambda case: [pages.file_of(case[0])]))
def test_page(address, palette, width, site, context_of):
    """In each window, the switch of a page that is no deeper one then shows the other palette."""
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

    assert shown(page) == PALETTES[palette]
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"wider than the window: {widest(page)}"
    assert serious(page) == []
    if not address.startswith("deeper/"):
        page.locator("#palette label:visible").click()
        assert shown(page) != PALETTES[palette]
        page.evaluate("localStorage.clear()")  # the next page of this window opens in the palette of the system again
        assert serious(page, [CONTRAST]) == [], "in the other palette"
    assert complaints == []
    assert strangers == []
    page.close()


def shown(page) -> str:
    return page.locator("body").get_attribute("data-md-color-scheme")


def widest(page) -> list[str]:
    return page.evaluate(
        """[...document.querySelectorAll("article *")].filter((e) => e.getBoundingClientRect().right > innerWidth)
           .slice(0, 5).map((e) => e.outerHTML.slice(0, 120))"""
    )


# Contrast would be nearly all of the work, a piece of text at a time. It is the same wherever color, size, weight and all that
# lies behind are the same: so a few pieces of each look are marked, and only these are checked.
CONTRAST = "color-contrast"
MARK = """() => {
  const behind = new Map([[null, ""]]), looks = new Map();
  const under = (element) => {
    if (behind.has(element)) return behind.get(element);
    const { backgroundColor, backgroundImage, opacity, filter } = getComputedStyle(element);
    const own = [backgroundColor, backgroundImage, opacity, filter].join();
    const all = own === "rgba(0, 0, 0, 0),none,1,none" ? under(element.parentElement) : own + ";" + under(element.parentElement);
    behind.set(element, all);
    return all;
  };
  for (const marked of document.querySelectorAll("[data-look]")) delete marked.dataset.look;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility() || element.closest("svg, script, style, noscript")) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const look = [color, fontSize, fontWeight, textShadow, under(element)].join(";");
    looks.set(look, (looks.get(look) ?? 0) + 1);
    if (looks.get(look) <= 4) element.dataset.look = "";
  }
}"""


def serious(page, only: list[str] | None = None) -> list[str]:
    """What is wrong for someone who sees little or reads by ear; of a long table, whose rows are alike, in its first eight."""
    page.evaluate("document.querySelectorAll('tbody tr:nth-child(n+9)').forEach((row) => row.remove())")
    # A color that still fades, as the tabs' does after a scroll and a lane's as it arrives, is nobody's choice.
    page.add_style_tag(content="*, ::before, ::after { transition: none !important; animation: none !important }")
    page.evaluate(MARK)
    axe = Axe()
    page.evaluate(axe.axe_script)
    page.evaluate("(rule) => axe.configure({ rules: [{ id: rule, selector: '[data-look]' }] })", CONTRAST)
    options = {"resultTypes": ["violations"]} | ({"runOnly": {"type": "rule", "values": only}} if only else {})
    answer = page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:160]} {node.get('failureSummary', '')}"
        for violation in answer["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:5]
    ]


def test_text_that_is_hard_to_read_is_found(site, context_of):
    places = {1280: ["article p", "figure.chart td"], 390: ["article p", "article pre code span"]}
    for width, planted in places.items():
        page = context_of("light", width).new_page()
        page.goto(site.url + "course/memory/")
        settle(page)
        page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true })")
        for place in planted:
            page.evaluate("(place) => { document.querySelector(place).style.color = '#ccc' }", place)
        found = serious(page)
        assert all(line.startswith(CONTRAST) for line in found) and len(found) >= len(planted)
        page.close()
