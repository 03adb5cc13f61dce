"""The configuration picker shows what the record holds; by keyboard, on a phone, in both palettes, without scripts."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from scripts.pages import picker
from snippets.landscape.cuda_source import CONFIGURATIONS
from tests.browser.conftest import PALETTES
from tests.browser.probes import add_page
from tests.browser.test_stepper import focused, tab_to
from tests.records.made_up import TOO_MUCH, of_picker

CHOSEN = [shape["chosen"] for shape in of_picker()["figures"]["shapes"].values()]
LIVE, WORDS, LIT = ".picker:not(.still)", ".explorer-words", ".picker-list tr.lit"
READ = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const text = (selector) => all(selector).map((e) => e.textContent.trim());
  return { words: text("config-picker .explorer-words")[0], marks: text("[data-part=marks]")[0],
    list: all(".picker-list tbody tr").map((row) => [...row.cells].map((cell) => cell.textContent.trim())),
    takes: all(".picker-takes tbody tr").map((row) => [...row.cells].map((cell) => cell.textContent)),
    winners: all(".picker-list tbody tr").flatMap((row, at) => row.matches(".winner") ? [at] : []),
    code: Object.fromEntries(["triton", "cuda"].map((side) => [side, all(`[data-part=${side}] .line`).map(
      (line) => [line.textContent.replace(/\\n$/, ""), line.localName === "mark"])])) };
}"""


@pytest.fixture(scope="module")
def given(site) -> dict:
    found = picker.data(of_picker())
    (site.folder / "data" / "picker.json").write_text(json.dumps(found), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def address(site, given) -> str:
    return add_page(site, "picker", picker.element_html(given, "../../data/picker.json"))


@pytest.fixture
def opened(fresh, address):
    def make(palette: str = "light", width: int = 1280):
        page = fresh(address, palette, width)
        page.locator("config-picker").scroll_into_view_if_needed()
        page.wait_for_selector(LIVE)
        return page

    return make


def tick(us: float) -> float:
    """Half of the last digit that a time is shown with."""
    return 0.05 if us < 100 else 0.5


def near(shown: str, value: float, most: float = 0.5) -> bool:
    """Whether a number on the page is one of the record, to the digits that are shown: Python rounds halves otherwise."""
    return abs(float(shown.replace(",", "")) - value) <= most * (1 + 1e-9)


def expected(row: dict) -> list[tuple]:
    """The cells of one side, and where a number stands in each."""
    if row["failure"]:
        return [None, None, None, None, None, f"{row['shared']:,} bytes", None, None, None]
    spills = f"{row['spills']:,} bytes" if row["spills"] else "none"
    taken = [str(row["registers"]), spills, f"{row['shared']:,} bytes", str(row["programs"])]
    return ["time", "range", "rate", *taken, f"{int(100 * row['occupancy'] + 0.5)}%", row["limit"]]


def test_every_number_that_it_shows_is_the_record_s(opened, given):
    page = opened()
    for number, shape in enumerate(given["shapes"]):
        page.locator(f"input[value='{shape}']").check()
        found = given["shapes"][shape]
        for at, configuration in enumerate(CONFIGURATIONS):
            page.locator(f".picker-list input[value='{at}']").check()
            seen = page.evaluate(READ)
            assert page.locator(LIT).count() == 1 and page.locator(LIT).get_attribute("data-at") == str(at)
            assert seen["winners"] == ([] if CHOSEN[number] is None else [CHOSEN[number]])
            rows = [found[side][at] for side in picker.SIDES]
            for column, row in enumerate(rows, 1):
                for cells, wanted in zip(seen["takes"], expected(row), strict=True):
                    shown = cells[column]
                    if wanted == "time":
                        assert near(shown.removesuffix(" µs"), row["us"], tick(row["us"]))
                    elif wanted == "range":
                        low, high = shown.removesuffix(" µs").split(" to ")
                        assert near(low, row["us_p20"], tick(row["us_p20"])) and near(high, row["us_p80"], tick(row["us_p80"]))
                    elif wanted == "rate":
                        assert near(shown.removesuffix(" TFLOP/s"), row["tflops"])
                    else:
                        assert shown == (wanted or "–")
            for index, (tile, warps, stages, *rates) in enumerate(seen["list"]):
                m, n, k, w, s = CONFIGURATIONS[index]
                assert tile.replace("\xa0", " ").startswith(f"{m} × {n} × {k}") and [warps, stages] == [str(w), str(s)]
                assert ("autotuner’s choice" in tile) == (index == CHOSEN[number])
                for side, shown in zip(picker.SIDES, rates, strict=True):
                    row = found[side][index]
                    assert shown == "fails" if row["failure"] else near(shown, row["tflops"])
            told = seen["words"].replace("\xa0", " ")
            assert told.startswith(
                f"{' × '.join(map(str, configuration[:3]))}, {configuration[3]} warps, {configuration[4]} stages"
            )
            taken = [row["us"] for row in rows if row["us"]] + [found["eager_us"]]
            shown = re.findall(r"takes ([\d,.]+) µs", told)
            assert all(near(text, value, tick(value)) for text, value in zip(shown, taken, strict=True))
            assert all(not row["failure"] or row["failure"] in told for row in rows)
            assert ("autotuner" in told) == (at == CHOSEN[number])
            ratio = re.search(r"takes ([\d.]+) times as long", told)
            assert near(ratio[1], rows[1]["us"] / rows[0]["us"], 0.005) if rows[0]["us"] else not ratio


def test_both_texts_are_those_of_the_configuration_and_the_changed_lines_are_marked(opened, given):
    page = opened()
    before = CHOSEN[0]
    for at in (TOO_MUCH, 0, 5, CHOSEN[0]):
        page.locator(f".picker-list input[value='{at}']").check()
        seen = page.evaluate(READ)
        for side in picker.SIDES:
            mine, other = (picker.lines_of(given["texts"][side], number) for number in (at, before))
            assert seen["code"][side] == [[line, line != was] for line, was in zip(mine, other, strict=True)]
            marked = sum(changed for _, changed in seen["code"][side])
            assert marked and page.locator(f"[data-part=count-{side}]").inner_text() == f"{len(mine)} lines, {marked} marked"
        m, n, k, warps, stages = CONFIGURATIONS[before]
        assert f"{m} × {n} × {k}, {warps} warps, {stages} stages" in seen["marks"].replace("\xa0", " ")
        before = at


def test_a_marked_line_has_a_sign_and_a_bar_besides_its_color(opened):
    page = opened()
    sign, bar, plain = page.evaluate(
        """() => { const [line, other] = ["mark", "span.line"].map((kind) => document.querySelector(`[data-part=cuda] ${kind}`));
          const bars = [line, other].map((each) => getComputedStyle(each).borderLeftColor);
          return [getComputedStyle(line, "::before").content, ...bars]; }"""
    )
    assert "▸" in sign and bar != plain


def test_by_keyboard_alone(opened, given):
    page = opened()
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "picker-shape":
            break
    page.keyboard.press("ArrowDown")
    assert "8192 × 8192 × 512:" in page.locator(WORDS).inner_text().replace("\xa0", " ")
    tab_to(page, "128")
    at = int(page.locator(LIT).get_attribute("data-at"))
    assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    page.keyboard.press("ArrowDown")
    assert int(page.locator(LIT).get_attribute("data-at")) == at + 1
    m, n, k, warps, stages = CONFIGURATIONS[at + 1]
    assert focused(page).replace("\xa0", " ").startswith(f"{m} × {n} × {k}, {warps} warps, {stages} stages")
    tab_to(page, "CUDA C++ of this configuration")
    page.keyboard.press("End")
    page.wait_for_function("document.activeElement.scrollTop > 0")


def test_a_row_can_be_pressed_anywhere(opened):
    page = opened()
    page.locator(".picker-list tr[data-at='3'] td").nth(2).click()
    assert page.locator(LIT).get_attribute("data-at") == "3"


def test_all_of_it_stands_on_one_screen(opened):
    """The list and both texts scroll in their boxes; what is chosen and what is marked are in view there."""
    page = opened()
    for at in (CHOSEN[0], 0, len(CONFIGURATIONS) - 1):
        page.locator(f".picker-list input[value='{at}']").check()
        assert page.locator(LIVE).bounding_box()["height"] <= 640
        for box, inner in ((".picker-scroll", ".lit"), (".picker-code:has([data-part=cuda])", "mark")):
            outer = page.locator(box).bounding_box()
            seen = page.locator(f"{box} {inner}").first.bounding_box()
            assert outer["y"] <= seen["y"] and seen["y"] + seen["height"] <= outer["y"] + outer["height"] + 1, (at, box)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("palette", PALETTES)
def test_it_fits_and_is_accessible(palette, width, opened):
    page = opened(palette, width)
    for at in (0, TOO_MUCH, CHOSEN[0]):
        page.locator(f".picker-list input[value='{at}']").check()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for table in page.locator(".picker table").all():
            assert table.evaluate("e => e.getBoundingClientRect().right <= e.closest('.picker').getBoundingClientRect().right")
        assert page.locator(".picker-code").evaluate_all("all => all.every((e) => e.scrollWidth <= e.clientWidth)")
        boxes = [row.bounding_box() for row in page.locator(".picker-list .choice").all()]
        assert min(box["height"] for box in boxes) >= 24
        found = Axe().run(page, context="config-picker").response["violations"]
        assert [
            (problem["id"], problem["nodes"][0]["html"]) for problem in found if problem["impact"] in ("serious", "critical")
        ] == []


def test_a_reason_is_shown_as_text(opened):
    page = opened()
    page.locator(f".picker-list input[value='{TOO_MUCH}']").check()
    assert "<of 232448>" in page.locator(WORDS).inner_text()


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("width", [1280, 390])
def test_without_scripts_times_and_texts_stand(width, palette, browser, site, address, given):
    context = browser.new_context(java_script_enabled=False, viewport={"width": width, "height": 800}, color_scheme=palette)
    page = context.new_page()
    page.goto(site.url + address)
    text = page.locator("config-picker .still").inner_text()
    found = next(iter(given["shapes"].values()))
    assert f"{found['triton'][CHOSEN[0]]['us']:,.1f} µs" in text and "autotuner’s choice" in text
    assert "mma.sync" in text and "tl.dot" in text and "<of 232448>" in text
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


@pytest.mark.parametrize("answer", [{"status": 404, "body": ""}, {"body": "{"}], ids=["none", "broken"])
def test_data_that_cannot_be_loaded_leaves_the_picture_and_a_line(answer, fresh, site, address):
    page = fresh(None)
    page.route("**/data/picker.json", lambda route: route.fulfill(**answer))
    page.goto(site.url + address)
    page.locator("config-picker").scroll_into_view_if_needed()
    page.wait_for_selector(".picker-note")
    assert "could not be loaded" in page.locator(".picker-note").inner_text()
    assert "mma.sync" in page.locator("config-picker .still").inner_text()
