"""No table loses a column: one that is wider than its place scrolls in a box that the keyboard reaches and that says so."""

import base64

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


@pytest.mark.parametrize("width", [390, 1280])
def test_why_a_program_does_not_run_is_read_without_scrolling(width, fresh):
    page = fresh("reference/compatibility/", width=width)
    settle(page)
    table = page.locator("article table", has_text="there is no torch.compile in the page")
    box = table.locator("xpath=ancestor::*[contains(@class, 'scrollwrap')]")
    assert table.locator("th").all_inner_texts() == ["why", "programs"]
    column = table.locator("td").first.bounding_box()["width"]
    table.locator("summary").first.click()
    assert "block_model/compile_time" in table.locator("details[open]").first.inner_text()
    assert table.locator("td").first.bounding_box()["width"] == column, "the columns move when a list opens"
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_no_table_of_the_api_scrolls(fresh):
    page = fresh("reference/kernels/", width=390)
    settle(page)
    for width in (320, 390, 700, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        cut = "all => all.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.textContent)"
        assert page.locator(".doc-contents .md-typeset__scrollwrap").evaluate_all(cut) == [], width
        row = page.locator(".doc-section-item", has_text="tuple[int | None, int | None] | None").first
        name, kind, said, default = (cell.bounding_box() for cell in row.locator("td").all())
        if width < 720:
            assert said["y"] >= kind["y"] + kind["height"] and said["width"] > 0.9 * row.bounding_box()["width"] - 30
        else:
            assert said["width"] > 1.5 * kind["width"], "the type leaves what is said of it no room"


# The colors at the right end of a picture of a table, from left to right, above the words of its first row.
ENDS = """async (picture) => {
  const drawn = await createImageBitmap(await (await fetch("data:image/png;base64," + picture)).blob());
  const canvas = new OffscreenCanvas(8, 1).getContext("2d");
  canvas.drawImage(drawn, 8 - drawn.width, -4);
  const { data } = canvas.getImageData(0, 0, 8, 1);
  return Array.from({ length: 8 }, (_, x) => data.slice(4 * x, 4 * x + 3).join());
}"""


@pytest.mark.parametrize("address", ["", "reference/kernels/"])
@pytest.mark.parametrize("palette, width", [("light", 1280), ("dark", 390)])
def test_a_table_that_fits_ends_in_no_shadow(address, palette, width, fresh):
    page = fresh(address, palette, width)
    settle(page)
    boxes = page.locator("article > .md-typeset__scrollwrap, .doc-contents .md-typeset__scrollwrap")
    box = boxes.nth(boxes.evaluate_all("all => all.findIndex((box) => box.scrollWidth <= box.clientWidth)"))
    colors = page.evaluate(ENDS, base64.b64encode(box.screenshot()).decode())
    assert len(set(colors)) == 1, colors


def test_a_wide_table_ends_in_one_shadow_as_high_as_itself(fresh):
    page = fresh("about/results/")
    settle(page)
    boxes = page.locator("article .scroll")
    wide = boxes.evaluate_all("all => all.map((box) => box.scrollWidth > box.clientWidth)")
    assert True in wide and False in wide
    box = boxes.nth(wide.index(True))
    assert box.bounding_box()["height"] == pytest.approx(box.locator("table").bounding_box()["height"], abs=1)
    drawn = "all => all.filter((e) => getComputedStyle(e).backgroundImage !== 'none').length"
    assert box.evaluate_all(drawn) == 1 and box.locator("div").evaluate_all(drawn) == 0


def test_a_phone_leaves_what_is_said_of_an_operation_its_room(fresh):
    page = fresh("reference/language/", width=390)
    settle(page)
    shares = page.locator("article table").evaluate_all(
        "all => all.map((table) => table.rows[1].cells[1].offsetWidth / table.parentElement.clientWidth)"
    )
    assert len(shares) >= 8 and min(shares) > 0.35, shares
