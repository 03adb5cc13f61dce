"""Moving about: palettes, instant navigation, search, the keyboard, paper, and the weight of a first view."""

import gzip
import json
import re

import pytest

from tests.browser.conftest import open_for_instant, press_copy, settle

CHAPTER = "course/first-kernel/"
SCHEME = "document.body.dataset.mdColorScheme"


def test_the_palette_is_switched_and_remembered(site, fresh):
    page = fresh(CHAPTER)
    assert page.evaluate(SCHEME) == "default"
    page.locator("label[title='Switch to dark']:visible").click()
    assert page.evaluate(SCHEME) == "slate"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(24, 21, 18)"
    page.goto(site.url + "about/glossary/")
    assert page.evaluate(SCHEME) == "slate"
    page.locator("label[title='Switch to light']:visible").click()
    page.reload()
    assert page.evaluate(SCHEME) == "default"


def test_the_palette_follows_the_system_until_the_reader_chooses(fresh):
    page = fresh(CHAPTER, "dark")
    assert page.evaluate(SCHEME) == "slate"
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"{SCHEME} === 'default'")
    page.locator("label[title='Switch to dark']:visible").click()
    page.emulate_media(color_scheme="dark")
    page.emulate_media(color_scheme="light")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")  # the page has heard of it
    assert page.evaluate(SCHEME) == "slate", "what the system asks for came before what the reader chose"


def test_the_palette_needs_nothing_of_the_theme_s_script(site, fresh):
    """It is chosen, and its switch works, where that script never arrives; so neither waits for it."""
    page = fresh(None, "dark")
    page.route("**/bundle.*.min.js", lambda route: route.abort())
    page.goto(site.url + CHAPTER)
    assert page.evaluate(SCHEME) == "slate"
    page.locator("label[title='Switch to light']:visible").click()
    assert page.evaluate(SCHEME) == "default"
    assert page.evaluate("[...document.scripts].find((s) => /bundle/.test(s.src)).defer"), "the theme's script holds the page up"


def test_instant_navigation_keeps_the_page_and_the_copy_buttons_follow(site, fresh):
    page = fresh(None)
    open_for_instant(page, site.url + CHAPTER)
    settle(page)
    page.locator(".md-nav--primary a", has_text=re.compile(r"^\s*Fused softmax\s*(\d+ min|$)")).click()
    page.wait_for_url("**/course/fused-softmax/")
    page.wait_for_selector("h1 >> text=Fused softmax")
    assert page.evaluate("window.marker") is True, "the whole page was loaded anew"
    settle(page)
    block = page.locator(".highlight[data-program]:visible").first
    program = site.folder / "programs" / f"{block.get_attribute('data-program')}.py"
    blocks = json.loads((site.folder / "data" / "blocks" / "course" / "fused-softmax.json").read_text(encoding="utf-8"))
    assert press_copy(page, block) == blocks[0]["text"]
    assert press_copy(page, block, 1).encode() == program.read_bytes()


def test_search_opens_a_result_by_keyboard(fresh):
    page = fresh()
    page.keyboard.press("/")
    page.keyboard.type("softmax")
    page.wait_for_selector(".md-search-result__link")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.activeElement.matches('.md-search-result__link')")
    page.keyboard.press("Enter")
    page.wait_for_function("location.pathname !== '/'")
    page.wait_for_function("document.querySelector('article.md-content__inner').innerText.toLowerCase().includes('softmax')")


FOCUS = """() => {
    const e = document.activeElement, style = getComputedStyle(e);
    const copy = "[data-program] button[data-md-type=copy]";
    const kinds = { skip: ".md-skip", nav: ".md-nav--primary a", code: "pre > code", copy };
    return {
        kind: Object.keys(kinds).find((kind) => e.matches(kinds[kind])) ?? "",
        outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1,
        html: e.outerHTML.slice(0, 120),
    };
}"""


@pytest.mark.parametrize(("width", "kinds"), [(1280, ["skip", "nav", "copy"]), (390, ["skip", "copy", "code"])])
def test_the_keyboard_reaches_everything_and_shows_where_it_is(width, kinds, fresh):
    page = fresh(CHAPTER, width=width)
    settle(page)
    stops = []
    while len(stops) < 80 and not set(kinds) <= {stop["kind"] for stop in stops}:
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUS))
    assert stops[0]["kind"] == "skip", stops[0]["html"]
    assert set(kinds) <= {stop["kind"] for stop in stops}
    assert [stop["html"] for stop in stops if stop["kind"] and not stop["outlined"]] == []


def test_the_skip_link_leads_to_the_text(fresh):
    page = fresh(CHAPTER)
    page.keyboard.press("Tab")
    page.wait_for_function("document.activeElement.matches('.md-skip')")
    page.wait_for_function("getComputedStyle(document.activeElement).opacity === '1'")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash !== ''")
    assert page.evaluate("document.querySelector(`article [id='${decodeURIComponent(location.hash.slice(1))}']`) !== null")


@pytest.mark.parametrize("width", [1280, 390])
def test_an_anchor_leads_to_its_heading(width, fresh):
    page = fresh(CHAPTER, width=width)
    last = page.locator("h2[id]").last.get_attribute("id")
    page = fresh(f"{CHAPTER}#{last}", width=width)
    settle(page)
    page.wait_for_timeout(500)
    top = page.locator(f"h2[id='{last}']").evaluate("(heading) => heading.getBoundingClientRect().top")
    bottom = page.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 2")
    assert 40 <= top <= 140 or (bottom and 40 <= top <= 800), f"the heading stands {top} pixels from the top"


def test_paper_shows_the_text_alone(fresh):
    page = fresh(CHAPTER, palette="dark")
    settle(page)
    page.emulate_media(media="print")
    for selector in (".md-header", ".md-sidebar--primary", ".md-sidebar--secondary", ".md-footer", ".md-code__nav"):
        assert page.locator(selector).first.is_hidden(), selector
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('article p')).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.querySelector('pre > code')).whiteSpace") == "pre-wrap"


@pytest.mark.parametrize("address", [CHAPTER, "course/fused-softmax/"])
def test_the_first_view_of_a_chapter_is_light(address, site, fresh):
    page = fresh(None)
    answers = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(site.url + address)
    page.wait_for_load_state("networkidle")
    weights = {answer.url: len(gzip.compress(answer.body(), 9)) for answer in answers}
    bare = {url: weight for url, weight in weights.items() if not url.endswith(".woff2")}
    table = "\n".join(f"{weight:8} {url}" for url, weight in sorted(weights.items(), key=lambda item: -item[1]))
    assert sum(weights.values()) < 350 * 1024, table
    assert sum(bare.values()) < 150 * 1024, table


def test_text_hardly_moves_though_the_faces_come_late(site, fresh):
    page = fresh(None)
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver((list) => list.getEntries().forEach((e) => { window.moved += e.value }))"
        ".observe({ type: 'layout-shift', buffered: true })"
    )
    held, holding = [], True
    page.route("**/*.woff2", lambda route: held.append(route) if holding else route.continue_())
    page.goto(site.url + CHAPTER, wait_until="commit")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    assert len(held) >= 4, "the text was to be drawn before its faces are there"
    holding = False
    for route in held:
        route.continue_()
    settle(page)
    page.wait_for_timeout(500)
    assert 0 < page.evaluate("window.moved") < 0.1  # what counts as good
