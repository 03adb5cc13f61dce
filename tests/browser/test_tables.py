"""No table loses a column: one that is wider than its place scrolls in a box that the keyboard reaches and that says so."""

import pytest

from tests.browser.conftest import settle

# The widest: of measurements, of the results, in prose, and in a widget.
WIDEST = ["measurements/products/", "about/results/", "deeper/precision-fp8/", "deeper/fusing-layer-norm-time/", "course/tools/"]
REACH = """() => {
  const lost = [];
  let scrolled = 0;
  for (const table of document.querySelectorAll("article table")) {
    if (!table.getBoundingClientRect().width) continue;
    const ends = () => Math.max(...[...table.rows].map((row) => row.lastElementChild?.getBoundingClientRect().right ?? 0));
    const name = `${document.title}, ${innerWidth}: ${table.textContent.trim().slice(0, 40)}`;
    let box = table;
    const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1;
    while (box && !scrolls(box)) box = box.parentElement.closest("article *");
    if (!box) {
      if (ends() > innerWidth + 1) lost.push(`${name} ends outside the window`);
      continue;
    }
    scrolled++;
    const edge = box.getBoundingClientRect().right;
    if (box.tabIndex < 0) lost.push(`${name}: its box cannot be focused`);
    if (getComputedStyle(box).backgroundImage === "none") lost.push(`${name}: nothing shows that it goes on`);
    if (edge > innerWidth + 1) lost.push(`${name}: its box ends outside the window`);
    box.scrollLeft = 1e6;
    if (ends() > edge + 1) lost.push(`${name}: its last column cannot be reached`);
    box.scrollLeft = 0;
  }
  return [lost, scrolled];
}"""


@pytest.mark.parametrize("address", WIDEST)
def test_every_column_can_be_reached(address, fresh):
    page = fresh(address, width=390)
    settle(page)
    page.add_style_tag(content="* { content-visibility: visible !important; scroll-behavior: auto !important }")
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true })")
    for width in (390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("new Promise((ready) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(ready, 50))))")
        lost, scrolled = page.evaluate(REACH)
        assert lost == []
        assert width > 390 or scrolled, "a page whose tables are wide"


def test_a_wide_table_scrolls_by_keyboard_and_keeps_its_first_column(fresh):
    page = fresh("about/results/", width=390)
    box = page.locator("article .scroll").first
    first = box.locator("tbody td").first
    before = first.bounding_box()["x"]
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('article .scroll').scrollLeft > 10")
    assert first.bounding_box()["x"] == pytest.approx(before, abs=1)
