"""The charts as drawn in a page: their words stand apart, and each mark says the row of the table that it stands for."""

import json

import pytest

from scripts import prepare
from tests.browser.conftest import settle
from tests.browser.probes import add_page

CHARTS = sorted(path.stem for path in (prepare.DOCS / "charts" / prepare.primary_machine()).glob("*.json"))
ONE = "softmax_rows"
TIP = f"#chart-{ONE} .chart-tip"
WORDS = """() => {
  const found = [];
  for (const figure of document.querySelectorAll("figure.chart")) {
    const svg = [...figure.querySelectorAll("svg")].find((each) => each.getBoundingClientRect().width);
    const frame = svg.getBoundingClientRect();
    const words = [...svg.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
    for (const [text, box] of words) {
      const size = parseFloat(getComputedStyle(text).fontSize) * frame.width / svg.viewBox.baseVal.width;
      if (size < 11) found.push(`${figure.id}: ${text.textContent} is ${size} pixels high`);
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 3 || box.bottom > frame.bottom + 3)
        found.push(`${figure.id}: ${text.textContent} is cut off`);
    }
    const level = words.filter(([text]) => !/rotate/.test(text.getAttribute("transform") ?? ""));
    level.forEach(([text, a], at) => level.slice(0, at).forEach(([other, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      if (across > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
        found.push(`${figure.id}: ${text.textContent} runs into ${other.textContent}`);
    }));
  }
  return found;
}"""


@pytest.fixture(scope="module")
def address(site) -> str:
    """A page of all charts."""
    figures = [(prepare.DOCS / "generated" / "charts" / f"{name}.html").read_text(encoding="utf-8") for name in CHARTS]
    style = "<style>.md-typeset figure.chart :is(.wide, .narrow) { content-visibility: visible }</style>"
    return add_page(site, "charts", style + "".join(figures))


@pytest.mark.parametrize("width", [1280, 390])
def test_words_are_large_enough_and_stand_apart(width, fresh, address):
    page = fresh(address, width=width)
    settle(page)
    assert page.locator("figure.chart").count() == len(CHARTS)
    assert page.evaluate(WORDS) == []


@pytest.mark.parametrize("palette, width", [("light", 1280), ("dark", 390)])
def test_the_row_at_the_pointer_is_told(palette, width, fresh, site):
    page = fresh(f"measurements/softmax/#chart-{ONE}", palette, width)
    element = page.locator(f"#chart-{ONE} chart-values[tabindex]")
    element.wait_for()
    drawing = element.locator(".wide svg" if width == 1280 else ".narrow svg")
    chart = json.loads((site.folder / "data" / "charts" / f"{ONE}.json").read_text(encoding="utf-8"))
    spots = chart["spots"]["wide" if width == 1280 else "narrow"]
    drawing.evaluate("e => scrollTo({ top: scrollY + e.getBoundingClientRect().top - 300, behavior: 'instant' })")
    for spot in (spots[0], spots[-1]):
        row, x, y = map(float, spot.split())
        box = drawing.bounding_box()
        scale = box["width"] / float(drawing.get_attribute("viewBox").split()[2])
        page.mouse.move(box["x"] + x * scale, box["y"] + y * scale)
        label, length = chart["rows"][int(row)][:2]
        page.wait_for_function(f"document.querySelector('{TIP} strong')?.textContent === '{label}'")
        assert page.locator(f"{TIP} dd").first.inner_text() == str(length)
        tip = page.locator(TIP).bounding_box()
        assert tip["x"] >= 0 and tip["x"] + tip["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 250)
    page.wait_for_function(f"document.querySelector('{TIP}').hidden")


def test_by_keyboard_each_row_is_told_in_the_table_s_order(fresh):
    page = fresh(f"measurements/softmax/#chart-{ONE}")
    element = page.locator(f"#chart-{ONE} chart-values[tabindex]")
    element.wait_for()
    read = "all => all.map((row) => [...row.cells].map((cell) => cell.textContent))"
    rows = page.locator(f"#chart-{ONE} tbody tr").evaluate_all(read)
    page.keyboard.press("Tab")
    element.focus()
    for key, row in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", len(rows) - 2)):
        page.keyboard.press(key)
        told = f"{rows[row][0]} {rows[row][1]}"
        page.wait_for_function(
            f"(([strong, dd]) => `${{strong?.textContent}} ${{dd?.textContent}}`)"
            f"(['strong', 'dd'].map((tag) => document.querySelector('{TIP} ' + tag))) === {json.dumps(told)}"
        )
    page.keyboard.press("Escape")
    assert page.locator(TIP).is_hidden()
