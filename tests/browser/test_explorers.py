"""The explorers and the offset calculator: against NumPy and Python integers, whatever is typed, by keyboard, on a phone."""

import gzip
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import PALETTES, open_for_instant
from tests.docs import pages

WIDGETS = sorted((pages.ROOT / "docs" / "overrides" / "widgets").glob("*.html"))
MODULES = ["explorer", "grid-explorer", "broadcast-explorer", "offset-calculator"]
ELEMENTS = ["grid-explorer", "broadcast-explorer", "offset-calculator"]
HOST = "course/fused-softmax/"  # its text is replaced by the explorers
GRIDS = {
    "cdiv": lambda n, block: -(-n // block),
    "floor": lambda n, block: n // block,
    "more": lambda n, block: n // block + 1,
    "elements": lambda n, block: n,
}
CROSSED = {
    "swapped": lambda m, n, block_m, block_n: (-(-m // block_n), -(-n // block_m)),
    "axes": lambda m, n, block_m, block_n: (-(-n // block_n), -(-m // block_m)),
}
LAST = 2**31 - 1
SET = """
([name, settings]) => {
  const element = document.querySelector(name);
  return settings.map((setting) => {
    for (const input of element.querySelectorAll("input")) {
      const value = setting[input.dataset.name];
      if (value === undefined) continue;
      if (input.type === "radio") input.checked = input.value === value;
      else input.value = value;
    }
    const last = [...element.querySelectorAll("input")].find((input) => input.dataset.name === Object.keys(setting).at(-1));
    last.dispatchEvent(new Event("input", { bubbles: true }));
    const pairs = [...element.querySelectorAll("dl > div")].map((div) => [...div.children].map((child) => child.textContent));
    return {
      words: element.querySelector(".explorer-words").textContent,
      invalid: [...element.querySelectorAll("[aria-invalid=true]")].map((input) => input.dataset.name),
      figures: Object.fromEntries(pairs),
      cells: [...element.querySelectorAll("[data-lane]")].map((cell) => [cell.dataset.lane, cell.textContent]),
      heads: [...element.querySelectorAll(".sums th")].map((cell) => cell.textContent),
      memory: [...element.querySelectorAll(".elements")].map((line) =>
        [line.previousElementSibling.textContent, ...[...line.children].map((mark) => parseFloat(mark.style.left))]),
      told: [...element.querySelectorAll("[data-part^=told]")].map((part) => [part.dataset.part, part.textContent]),
      size: element.querySelectorAll("*").length,
    };
  });
}
"""


@pytest.fixture(scope="module")
def host(site) -> str:
    """A page of the site as the theme makes it, with the explorers as its text."""
    built = (site.folder / HOST / "index.html").read_text(encoding="utf-8")
    texts = [path.read_text(encoding="utf-8") for path in WIDGETS if not path.stem.endswith("-2d")]
    apart = '<div style="height: 900px"></div>'.join(texts)
    page, found = re.subn(
        r"(<article[^>]*>).*(</article>)", lambda match: match[1] + "<h1>Explorers</h1>" + apart + match[2], built, flags=re.S
    )
    assert found == 1
    return page


def wake(page: Page) -> None:
    """Go down to each explorer, because it is loaded when a reader comes near it, and back up."""
    for element in ELEMENTS:
        page.locator(element).scroll_into_view_if_needed()
        page.wait_for_selector(f"{element} .explorer:not(.still) .explorer-words:not(:empty)", state="attached")
    page.evaluate("scrollTo(0, 0)")


@pytest.fixture
def explorers(site, fresh, host) -> Callable[..., Page]:
    def make(palette: str = "light", width: int = 1280) -> Page:
        page = fresh(None, palette, width)
        page.route(site.url + HOST, lambda route: route.fulfill(body=host, content_type="text/html; charset=utf-8"))
        page.goto(site.url + HOST)
        wake(page)
        return page

    return make


@pytest.fixture(scope="module")
def asked(browser, site, host) -> Iterator[Callable[[str, list[dict]], list[dict]]]:
    """Types settings into an explorer one after another and returns what it then shows."""
    page = browser.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.route(site.url + HOST, lambda route: route.fulfill(body=host, content_type="text/html; charset=utf-8"))
    page.goto(site.url + HOST)
    wake(page)

    def ask(element: str, settings: list[dict]) -> list[dict]:
        typed = [{name: str(value) for name, value in setting.items()} for setting in settings]
        answers = page.evaluate(SET, [element, typed])
        assert complaints == []
        return answers

    yield ask
    page.close()


def read(text: str) -> int:
    return int(text.replace(",", "").replace("−", "-"))


# The grid explorer


def owners_in_one(n: int, block: int, programs: int) -> dict:
    """Count for every element how many programs own it, and for every program how many elements it owns."""
    owners = numpy.zeros(n, int)
    owned = []
    for pid in range(programs):
        offsets = pid * block + numpy.arange(block)
        inside = offsets[offsets < n]
        owners[inside] += 1
        owned.append(len(inside))
    return summed(owners, owned, block)


def owners_in_two(shape: tuple, blocks: tuple, grid: tuple) -> dict:
    owners = numpy.zeros(shape, int)
    owned = []
    for pid_m in range(grid[0]):
        for pid_n in range(grid[1]):
            rows = pid_m * blocks[0] + numpy.arange(blocks[0])
            columns = pid_n * blocks[1] + numpy.arange(blocks[1])
            mask = (rows < shape[0])[:, None] & (columns < shape[1])[None, :]
            owned.append(int(mask.sum()))
            owners[numpy.ix_(rows[rows < shape[0]], columns[columns < shape[1]])] += 1
    return summed(owners, owned, blocks[0] * blocks[1])


def summed(owners: numpy.ndarray, owned: list[int], lanes: int) -> dict:
    assert owners.max(initial=0) <= 1, "two programs own one element"
    busy = [count for count in owned if count]
    return {
        "Programs": len(owned),
        "Elements missed": int((owners == 0).sum()),
        "Masked off at the edge": sum(lanes - count for count in busy),
        "Programs with nothing to do": len(owned) - len(busy),
    }


def numbers_of(answer: dict) -> dict:
    names = ["Programs", "Elements missed", "Masked off at the edge", "Programs with nothing to do"]
    return {name: read(answer["figures"][name]) for name in names}


def agrees_with_its_words(answer: dict, counts: dict) -> bool:
    """The sentence speaks of what is missed and of what is wasted where there is any, and only there."""
    missed, useless = counts["Elements missed"], counts["Programs with nothing to do"]
    empty = not counts["Programs"]
    return (("no program" in answer["words"]) == (missed > 0 and not empty)) and (
        ("nothing to do:" in answer["words"]) == (useless > 0)
    )


def test_one_dimension_agrees_with_ownership_counted_in_numpy(asked):
    chance = random.Random(7)
    sizes = [(0, 1), (0, 8), (1, 1), (1, 8), (7, 8), (8, 8), (9, 8), (16, 8), (1000, 256), (1024, 256), (3, 100)]
    sizes += [(chance.randrange(600), chance.choice([1, 2, 3, 5, 8, 16, 32, 64, 100, 256])) for _ in range(80)]
    cases = [(n, block, formula) for n, block in sizes for formula in GRIDS]
    answers = asked(
        "grid-explorer", [{"dimensions": 1, "n": n, "block": block, "formula": formula} for n, block, formula in cases]
    )
    for (n, block, formula), answer in zip(cases, answers, strict=True):
        programs = GRIDS[formula](n, block)
        counts = owners_in_one(n, block, programs)
        assert numbers_of(answer) == counts, (n, block, formula)
        covered = n - counts["Elements missed"]
        assert answer["figures"]["Elements covered"] == (f"0 to {covered - 1:,}" if covered else "nothing")
        tail = covered % block
        assert answer["figures"]["Elements of the last, partial tile"] == (str(tail) if tail else "none")
        assert agrees_with_its_words(answer, counts), (n, block, formula, answer["words"])
        if programs and tail:
            assert f"its mask is true in {tail} lane" in answer["words"] and f"false in {block - tail}." in answer["words"]


def test_two_dimensions_agree_with_ownership_counted_in_numpy(asked):
    chance = random.Random(8)
    sizes = [((0, 5), (2, 2)), ((5, 0), (4, 1)), ((1, 1), (8, 8)), ((8, 16), (8, 16)), ((8, 16), (4, 4)), ((20, 40), (8, 16))]
    sizes += [
        (tuple(chance.randrange(24) for _ in "mn"), tuple(chance.choice([1, 2, 3, 4, 8, 16]) for _ in "mn")) for _ in range(24)
    ]
    cases = [(shape, blocks, formula) for shape, blocks in sizes for formula in [*GRIDS, *CROSSED]]
    settings = [
        {"dimensions": 2, "rows": m, "columns": n, "block_m": block_m, "block_n": block_n, "formula": formula}
        for (m, n), (block_m, block_n), formula in cases
    ]
    for (shape, blocks, formula), answer in zip(cases, asked("grid-explorer", settings), strict=True):
        each = (
            [GRIDS[formula](*pair) for pair in zip(shape, blocks, strict=True)]
            if formula in GRIDS
            else CROSSED[formula](*shape, *blocks)
        )
        counts = owners_in_two(shape, blocks, tuple(each))
        assert numbers_of(answer) == counts, (shape, blocks, formula)
        assert agrees_with_its_words(answer, counts), (shape, blocks, formula, answer["words"])
        told = dict(answer["told"])[f"told-{formula}"]
        assert told.startswith(f"{each[0]:,} × {each[1]:,} program"), told
        assert ("missed" in told) == (counts["Elements missed"] > 0)


def test_large_grids_are_exact_and_drawn_in_part(asked):
    n, block = 10**12 + 1, 1024
    exact, floor, elements = asked(
        "grid-explorer", [{"dimensions": 1, "n": n, "block": block, "formula": name} for name in ("cdiv", "floor", "elements")]
    )
    assert read(exact["figures"]["Programs"]) == -(-n // block)
    assert read(floor["figures"]["Elements missed"]) == n % block
    assert read(elements["figures"]["Programs with nothing to do"]) == n - -(-n // block)
    assert "takes at most 2,147,483,647 programs on axis 0" in elements["words"]
    [wide] = asked(
        "grid-explorer", [{"dimensions": 2, "rows": 4, "columns": 65536 * 2, "block_m": 4, "block_n": 2, "formula": "cdiv"}]
    )
    assert "at most 65,535 programs on axis 1" in wide["words"]
    assert max(answer["size"] for answer in (exact, floor, elements, wide)) < 600


@pytest.mark.parametrize(
    "setting, words",
    [
        (
            {"n": 1000, "block": 256, "formula": "floor"},
            "Elements 768 to 999 belong to no program: 232 of 1,000 elements are never computed, and no error says so.",
        ),
        ({"n": 1024, "block": 256, "formula": "floor"}, "is right by luck: 256 divides 1,024."),
        (
            {"n": 1024, "block": 256, "formula": "more"},
            "Program 4 has nothing to do: every lane points past the end and is masked off.",
        ),
        (
            {"n": 1000, "block": 256, "formula": "more"},
            "is right here, because 256 does not divide 1,000. With 1,024 elements a program has nothing to do.",
        ),
        ({"n": 1000, "block": 256, "formula": "elements"}, "Programs 4 to 999 have nothing to do"),
        (
            {"n": 100, "block": 256, "formula": "floor"},
            "The grid is empty. Triton launches nothing and says nothing: 100 elements of the output keep",
        ),
        ({"n": 0, "block": 256, "formula": "cdiv"}, "Triton launches nothing; that is no error."),
        (
            {"n": 1000, "block": 100, "formula": "cdiv"},
            "A block of 100 does not compile, because tl.arange takes powers of two only",
        ),
    ],
)
def test_a_grid_is_told_in_words(setting, words, asked):
    [answer] = asked("grid-explorer", [{"dimensions": 1} | setting])
    assert words in answer["words"]


# The broadcast explorer


def offsets_in_numpy(case: dict) -> numpy.ndarray:
    rows = case["pid_m"] * case["block_m"] + numpy.arange(case["block_m"])
    columns = case["pid_n"] * case["block_n"] + numpy.arange(case["block_n"])
    if case["formula"] == "diagonal":
        return rows * case["stride_m"] + columns * case["stride_n"]
    return rows[:, None] * case["stride_m"] + columns[None, :] * case["stride_n"]


def broadcasts() -> list[dict]:
    chance = random.Random(9)
    found = []
    for _ in range(150):
        strides = chance.choice([(8, 1), (1, 8), (12, 1), (0, 1), (0, 0), None])
        m, n = strides or (chance.randrange(-9, 30), chance.randrange(-9, 30))
        blocks = [chance.choice([1, 2, 3, 4, 8, 16, 40]) for _ in "mn"]
        if chance.random() < 0.3:
            blocks[1] = blocks[0]
        found.append({
            "block_m": blocks[0], "block_n": blocks[1], "pid_m": chance.randrange(4), "pid_n": chance.randrange(4),
            "formula": chance.choice(["tile", "tile", "diagonal"]), "stride_m": m, "stride_n": n,
        })  # fmt: skip
    return found


def test_a_tile_of_offsets_agrees_with_numpy(asked):
    cases = broadcasts()
    compiled = 0
    for case, answer in zip(cases, asked("broadcast-explorer", cases), strict=True):
        try:
            offsets = offsets_in_numpy(case)
        except ValueError:
            assert "This does not compile." in answer["words"], case
            continue
        compiled += 1
        figures = answer["figures"]
        assert read(figures["Lanes"]) == offsets.size, case
        assert read(figures["Elements"]) == len(numpy.unique(offsets)), case
        assert [read(figures[name]) for name in ("Lowest offset", "Highest offset")] == [offsets.min(), offsets.max()], case
        tile = offsets if offsets.ndim == 2 else {lane: offset for lane, offset in zip(lanes_of(case), offsets, strict=True)}
        for lane, text in answer["cells"]:
            assert read(text) == tile[tuple(map(int, lane.split()))], (case, lane)
        shared = len(numpy.unique(offsets)) < offsets.size
        if case["formula"] == "tile":
            assert ("more than one lane" in answer["words"]) == shared, case
        else:
            lost = case["block_m"] * case["block_n"] - offsets.size
            assert (f"{lost:,} lane" in answer["words"] and "not exist" in answer["words"]) == (lost > 0), case
    assert compiled > 80


def lanes_of(case: dict) -> list[tuple[int, int]]:
    both = numpy.broadcast_arrays(numpy.arange(case["block_m"]), numpy.arange(case["block_n"]))
    return [(int(i), int(j)) for i, j in zip(*both, strict=True)]


def test_the_strip_of_memory_agrees_with_numpy(asked):
    cases = [case for case in broadcasts() if case["block_m"] <= 4 and case["block_n"] <= 8]
    drawn = 0
    for case, answer in zip(cases, asked("broadcast-explorer", cases), strict=True):
        if not answer["memory"]:
            assert answer["words"].startswith("This does not compile."), case
            continue
        touched = {read(begin) + round(left * 32 / 100) for begin, *lefts in answer["memory"] for left in lefts}
        expected = sorted(set(map(int, offsets_in_numpy(case).flat)))
        lines = sorted({offset // 32 for offset in expected})[:8]
        assert touched == {offset for offset in expected if offset // 32 in lines}, case
        drawn += 1
    assert drawn > 20


def test_without_none_only_the_diagonal_is_touched(asked):
    case = {"pid_m": 0, "pid_n": 0, "block_m": 4, "block_n": 4, "layout": "rows", "formula": "diagonal"}
    [answer] = asked("broadcast-explorer", [case])
    assert [lane for lane, _ in answer["cells"]] == ["0 0", "1 1", "2 2", "3 3"]
    assert "12 lanes of the tile do not exist: only its diagonal is touched, and no error says so." in answer["words"]


def test_a_layout_sets_the_strides_and_strides_name_the_layout(explorers):
    page = explorers()
    element = page.locator("broadcast-explorer")
    for label, strides in (
        ("column-major", ["1", "8"]),
        ("cut from rows of 12", ["12", "1"]),
        ("stride 0", ["0", "1"]),
        ("row-major", ["8", "1"]),
    ):
        element.get_by_label(label).check()
        assert [element.get_by_label(name, exact=True).input_value() for name in ("stride_m", "stride_n")] == strides
    element.get_by_label("stride_m", exact=True).fill("9")
    assert element.get_by_label("strides of your own").is_checked()
    element.get_by_label("stride_m", exact=True).fill("12")
    assert element.get_by_label("cut from rows of 12").is_checked()


# The offset calculator


def in_a_kernel(row: int, column: int, stride_m: int, stride_n: int) -> int:
    """The offset in NumPy's fixed-width integers, with the types that Triton gives: int32 unless a stride needs more."""
    with numpy.errstate(over="ignore"):
        terms = []
        for index, stride in ((row, stride_m), (column, stride_n)):
            narrow = numpy.array([index], numpy.int64).astype(numpy.int32)
            kind = numpy.int32 if stride <= LAST else numpy.int64
            terms.append(narrow.astype(kind) * numpy.array([stride], kind))
        return int((terms[0] + terms[1])[0])


def tensors() -> list[dict]:
    chance = random.Random(10)
    found = []
    for _ in range(300):
        rows, columns = (chance.randrange(1, 10 ** chance.randrange(2, 8)) for _ in "mn")
        strides = chance.choice([(columns, 1), (1, rows), (columns + chance.randrange(9), 1), (0, 1), None, None])
        stride_m, stride_n = strides or [chance.randrange(10 ** chance.randrange(1, 8)) for _ in "mn"]
        if chance.random() < 0.1:
            stride_m = LAST + chance.randrange(5)
        blocks = [chance.choice([1, 16, 64, 100, 1024]) for _ in "mn"]
        found.append(
            {
                "rows": rows,
                "columns": columns,
                "block_m": blocks[0],
                "block_n": blocks[1],
                "stride_m": stride_m,
                "stride_n": stride_n,
            }
        )
    return found


def test_tiles_of_offsets_overflow_where_fixed_width_integers_do(asked):
    cases = tensors()
    overflowed = 0
    for case, answer in zip(cases, asked("offset-calculator", [{"dimensions": 2} | case for case in cases]), strict=True):
        rows, columns, strides = case["rows"], case["columns"], (case["stride_m"], case["stride_n"])
        figures = answer["figures"]

        def right(row, column, strides=strides):
            return in_a_kernel(row, column, *strides) == row * strides[0] + column * strides[1]

        largest = (rows - 1) * strides[0] + (columns - 1) * strides[1]
        assert read(figures["Largest offset"]) == largest
        assert (figures["First wrong program"] == "none") == right(rows - 1, columns - 1), case
        if figures["First wrong program"] == "none":
            assert "goes wrong" not in answer["words"]
            continue
        overflowed += 1
        pid_m, pid_n = map(read, figures["First wrong program"].split(", "))
        block_m, block_n = case["block_m"], case["block_n"]
        # Offsets grow with row and column, so a program is right where its last element is.
        bottom, end = min((pid_m + 1) * block_m, rows) - 1, min((pid_n + 1) * block_n, columns) - 1
        assert not right(bottom, end), case
        assert pid_m == 0 or right(pid_m * block_m - 1, columns - 1), case
        assert pid_n == 0 or right(bottom, pid_n * block_n - 1), case
        row, column = map(read, re.search(r"its lane \[([\d,]+), ([\d,]+)\]", answer["words"]).groups())
        row, column = pid_m * block_m + row, pid_n * block_n + column
        assert row <= bottom and column <= end and not right(row, column), case
        assert row == pid_m * block_m or right(row - 1, end), case
        assert column == pid_n * block_n or right(row, column - 1), case
        assert read(figures["Offset meant"]) == row * strides[0] + column * strides[1]
        assert read(figures["Offset computed"]) == in_a_kernel(row, column, *strides)
    assert 50 < overflowed < 250


KERNEL = """
import sys, torch, triton, triton.language as tl

@triton.jit
def offsets_kernel(out_ptr, first_m, first_n, stride_m, stride_n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = (tl.program_id(0) + first_m) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (tl.program_id(1) + first_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    offsets = rows[:, None] * stride_m + cols[None, :] * stride_n
    lanes = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    tl.store(out_ptr + lanes, offsets)

for words in sys.argv[1:]:
    pid_m, pid_n, stride_m, stride_n, block_m, block_n, row, column = map(int, words.split())
    out = torch.zeros(block_m, block_n, dtype=torch.int64)
    offsets_kernel[(1, 1)](out, pid_m, pid_n, stride_m, stride_n, block_m, block_n)
    print(out[row, column].item())
"""


def test_the_wrong_offsets_are_those_of_triton(asked, tmp_path):
    cases = [
        {"rows": 100_000, "columns": 50_000, "block_m": 64, "block_n": 64, "stride_m": 50_000, "stride_n": 1},
        {"rows": 3, "columns": 200_000, "block_m": 2, "block_n": 128, "stride_m": 3_000_000_000, "stride_n": 20_000},
        {"rows": 9, "columns": 500_000, "block_m": 8, "block_n": 32, "stride_m": 2_147_483_647, "stride_n": 5_000},
    ]
    runs, computed = [], []
    for case, answer in zip(cases, asked("offset-calculator", [{"dimensions": 2} | case for case in cases]), strict=True):
        lane = re.search(r"its lane \[([\d,]+), ([\d,]+)\]", answer["words"]).groups()
        pids = answer["figures"]["First wrong program"].split(", ")
        rest = [case[name] for name in ("stride_m", "stride_n", "block_m", "block_n")]
        runs.append(" ".join(map(str, [*map(read, pids), *rest, *map(read, lane)])))
        computed.append(read(answer["figures"]["Offset computed"]))
    program = tmp_path / "offsets.py"
    program.write_text(KERNEL, encoding="utf-8")
    variables = os.environ | {"TRITON_INTERPRET": "1", "PYTHONWARNINGS": "ignore"}
    result = subprocess.run([sys.executable, program, *runs], env=variables, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert list(map(int, result.stdout.split())) == computed


def test_one_dimension_overflows_where_python_says(asked):
    chance = random.Random(11)
    cases = [(n, block) for n in (0, 1, 2**31 - 1, 2**31, 2**31 + 1, 2**32, 10**12) for block in (1, 100, 1024)]
    cases += [(chance.randrange(2**33), chance.choice([1, 128, 1000, 4096])) for _ in range(60)]
    answers = asked("offset-calculator", [{"dimensions": 1, "n": n, "block": block} for n, block in cases])
    for (n, block), answer in zip(cases, answers, strict=True):
        figures = answer["figures"]
        if n <= 2**31:
            assert figures["First wrong program"] == "none", (n, block)
            continue
        program, lane = divmod(2**31, block)
        assert read(figures["First wrong program"]) == program, (n, block)
        assert read(figures["Offset computed"]) == (2**31 + 2**31) % 2**32 - 2**31 == -(2**31)
        assert f"its lane {lane} means offset 2,147,483,648 and computes −2,147,483,648." in answer["words"]


def test_a_shape_sets_contiguous_strides(explorers):
    page = explorers()
    element = page.locator("offset-calculator")
    element.get_by_label("two").check()
    element.locator("[data-name=columns]").fill("70000")
    strides = [element.get_by_label(name, exact=True) for name in ("stride_m", "stride_n")]
    assert [each.input_value() for each in strides] == ["70000", "1"]
    element.get_by_label("transposed").check()
    assert [each.input_value() for each in strides] == ["1", element.get_by_label("M", exact=True).input_value()]
    strides[0].fill("5")
    assert element.get_by_label("strides of its own").is_checked()


# What people type

NUMBERS = {
    "1,000": 1000,
    "1_000": 1000,
    " 12 ": 12,
    "+7": 7,
    "1e6": 10**6,
    "2**31": 2**31,
    "2^31 - 1": 2**31 - 1,
    "10**12": 10**12,
    "007": 7,
}
REFUSED = {
    "": "is empty", "   ": "is empty", "abc": "“abc”, which is not a number", "NaN": "not a number", "Infinity": "not a number",
    "0x10": "not a number", "١٢": "not a number", "--1": "not a number", "<b>1</b>": "“<b>1</b>”, which is not a number",
    "1.5": "only whole numbers", "1/2": "only whole numbers", "1e-3": "only whole numbers", "1,00": "only whole numbers",
    "9" * 400: "more than 30 digits", "1e999999999": "more than 30 digits", "9**999": "more than 30 digits",
    "1e31": "more than 30 digits",
}  # fmt: skip


def test_numbers_are_understood_as_people_write_them(asked):
    answers = asked("grid-explorer", [{"dimensions": 1, "formula": "cdiv", "block": 1, "n": text} for text in NUMBERS])
    assert [read(answer["figures"]["Programs"]) for answer in answers] == list(NUMBERS.values())


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("dimensions", [1, 2])
def test_whatever_is_typed_is_answered_in_words(element, dimensions, explorers):
    page = explorers()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    if page.locator(f"{element} [data-name=dimensions]").count():
        page.locator(f"{element} [data-name=dimensions]").nth(dimensions - 1).check()
    fields = page.locator(f"{element} input:not([type=radio]):visible")
    for i in range(fields.count()):
        field = fields.nth(i)
        first, name = field.input_value(), field.locator("xpath=..").inner_text().strip()
        page.set_default_timeout(5_000)
        for text, words in {
            **REFUSED,
            "-5": "is −5, and",
            **({"0": "is 0: a block without lanes"} if "BLOCK" in name else {}),
        }.items():
            field.fill(text)
            told = page.locator(f"{element} .explorer-words").inner_text()
            if text == "-5" and element == "broadcast-explorer" and "stride" in name:
                continue
            assert f"{name} {words}" in told or (name in told and words in told), (name, text, told)
            assert field.get_attribute("aria-invalid") == "true"
            assert page.locator(f"{element} .stale").count() == 1
        for text in ("0", "1", "3", "10**12", "9" * 30, "2**31"):
            field.fill(text)
            assert page.locator(f"{element} .explorer-words").inner_text()
            assert page.locator(f"{element} *").count() < 900
        field.fill(first)
        assert page.locator(f"{element} .stale").count() == 0
        assert page.locator(f"{element} [aria-invalid=true]").count() == 0
    assert complaints == []


@pytest.mark.parametrize("element", ELEMENTS)
def test_any_mixture_of_numbers_is_answered(element, asked):
    chance = random.Random(12)
    extremes = ["0", "1", "2", "3", "64", "1000", "1e6", "1e12", "2**31", "2**31-1", "2**32", "9" * 30, "-1", "-(", "1e30"]
    names = {
        "grid-explorer": ["n", "block", "rows", "columns", "block_m", "block_n"],
        "broadcast-explorer": ["pid_m", "pid_n", "block_m", "block_n", "stride_m", "stride_n"],
        "offset-calculator": ["n", "block", "rows", "columns", "block_m", "block_n", "stride_m", "stride_n"],
    }[element]
    formulas = {"grid-explorer": [*GRIDS, *CROSSED], "broadcast-explorer": ["tile", "diagonal"], "offset-calculator": ["x"]}[
        element
    ]
    settings = [
        {"dimensions": chance.choice("12"), "formula": chance.choice(formulas)}
        | {name: chance.choice(extremes) for name in names}
        for _ in range(400)
    ]
    for setting, answer in zip(settings, asked(element, settings), strict=True):
        assert answer["words"] and answer["size"] < 900, setting
        assert "undefined" not in answer["words"] and "NaN" not in answer["words"], (setting, answer["words"])


# Use


def test_one_is_loaded_when_the_reader_comes_near(site, fresh, host):
    page = fresh(None)
    asked_for = []
    page.on("request", lambda request: asked_for.append(request.url.rpartition("/")[2]))
    page.route(site.url + HOST, lambda route: route.fulfill(body=host, content_type="text/html; charset=utf-8"))
    page.goto(site.url + HOST, wait_until="networkidle")
    assert "offset-calculator.js" not in asked_for
    assert page.locator("offset-calculator .explorer.still").count() == 1
    wake(page)
    assert {f"{element}.js" for element in ELEMENTS} <= set(asked_for)


def focused(page: Page) -> str:
    return page.evaluate("(document.activeElement.labels?.[0]?.innerText ?? document.activeElement.ariaLabel ?? '').trim()")


def tab_to(page: Page, label: str) -> None:
    for _ in range(90):
        page.keyboard.press("Tab")
        if focused(page).startswith(label):
            return
    pytest.fail(f"Tab never reaches {label}")


def test_the_grid_is_broken_by_keyboard_alone(explorers):
    page = explorers()
    words = page.locator("grid-explorer .explorer-words")
    tab_to(page, "N")
    page.keyboard.press("Control+a")
    page.keyboard.type("2048")
    tab_to(page, "BLOCK")
    page.keyboard.press("ArrowUp")
    assert page.locator("grid-explorer [data-name=block]").input_value() == "512"
    page.keyboard.press("ArrowDown")
    assert "8 programs of 256 lanes" in words.inner_text()
    tab_to(page, "grid = (triton.cdiv(N, BLOCK),)")
    assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    page.keyboard.press("ArrowDown")
    assert "right by luck" in words.inner_text()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowUp")
    assert "Element 2,048 belongs to no program" in words.inner_text()
    assert page.locator("grid-explorer .bar .missed").count() == 1
    assert words.get_attribute("role") == "status"


def test_a_lane_is_chosen_by_keyboard_and_by_hand(explorers):
    page = explorers()
    element = page.locator("broadcast-explorer")
    lane = element.locator(".lane-words")
    assert lane.inner_text() == "Lane [1, 2]: row 5, column 2, offset 5 × 8 + 2 × 1 = 42.", "it opens on a lane"
    tab_to(page, "The tile of offsets")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert lane.inner_text() == "Lane [2, 3]: row 6, column 3, offset 6 × 8 + 3 × 1 = 51."
    assert element.locator(".elements .now").count() == 1 and element.locator(".elements .near").count() == 3
    assert [cell.inner_text() for cell in element.locator("th.now").all()] == ["3 × 1 = 3", "6 × 8 = 48"]
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    assert lane.inner_text().startswith("Lane [2, 3]:"), "it leaves the tile"
    element.locator("[data-lane='0 1']").hover()
    assert lane.inner_text().startswith("Lane [0, 1]:")
    element.locator(".elements i").first.hover()
    assert lane.inner_text().startswith("Lane [0, 0]:"), "an element of memory names its lane"
    element.locator("[data-lane='3 0']").click()
    assert lane.inner_text() == "Lane [3, 0]: row 7, column 0, offset 7 × 8 + 0 × 1 = 56."
    element.get_by_label("offsets = rows * stride_m").check()
    element.locator(".pick").focus()
    page.keyboard.press("ArrowRight")
    assert lane.inner_text() == "Lane 1: row 5, column 1, offset 5 × 8 + 1 × 1 = 41."


@pytest.mark.parametrize("palette", PALETTES)
def test_on_a_phone_they_fit_and_are_accessible(palette, explorers):
    page = explorers(palette, 390)
    for broken in (False, True):
        for two in page.locator("[data-name=dimensions][value='2']").all() if broken else []:
            two.check()
        if broken:
            page.locator("grid-explorer [value=swapped]").check()
            page.locator("broadcast-explorer [value=diagonal]").check()
            page.locator("offset-calculator [data-name=stride_m]").fill("123456789012")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        found = Axe().run(page, context="article").response["violations"]
        assert [
            f"{problem['id']}: {node['html'][:120]} {node.get('failureSummary', '')[:200]}"
            for problem in found
            if problem["impact"] in ("serious", "critical")
            for node in problem["nodes"][:4]
        ] == []
    for element in ELEMENTS:
        beyond = page.locator(element).evaluate(
            """(all) => [...all.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > innerWidth - 10)
                 .map((e) => e.outerHTML.slice(0, 90))"""
        )
        assert beyond == []


def test_nothing_moves(explorers):
    page = explorers()
    page.emulate_media(reduced_motion="reduce")
    page.locator("grid-explorer [value=floor]").check()
    assert page.evaluate("document.querySelector('article').getAnimations({ subtree: true }).length") == 0


def test_the_pictures_without_scripts_are_what_the_modules_draw(browser, site):
    page = browser.new_page()
    program = (pages.ROOT / "scripts" / "stills.mjs").read_text(encoding="utf-8")
    page.route("**/assets/stills.mjs", lambda route: route.fulfill(body=program, content_type="text/javascript"))
    page.goto(site.url)
    drawn = page.evaluate("(address) => import(address).then(({ stills }) => stills)", site.url + "assets/stills.mjs")
    page.close()
    written = {path.stem: path.read_text(encoding="utf-8") for path in WIDGETS}
    assert written == drawn, "older than their modules: run `node scripts/stills.mjs`"
    for html in written.values():
        assert html.startswith("<figure ") and html.count("\n") == 1, "Markdown takes HTML that begins with a figure, on one line"
        assert not re.search("<input|<button|tabindex|role=.status", html), "a control that cannot work"


def test_without_scripts_nothing_is_lost(browser, site, host):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.route(site.url + HOST, lambda route: route.fulfill(body=host, content_type="text/html; charset=utf-8"))
    page.goto(site.url + HOST)
    assert page.locator(".explorer.still").count() == 3
    assert "its mask is true in 232 lanes and false in 24" in page.locator("grid-explorer").inner_text()
    assert page.locator("grid-explorer .masked").first.bounding_box()["width"] > 10
    assert page.locator("broadcast-explorer td.lane").count() == 16
    assert "Program 2,097,152 is the first that goes wrong" in page.locator("offset-calculator").inner_text()
    context.close()


def test_instant_navigation_brings_them_along(site, fresh, host):
    page = fresh(None)
    page.route(site.url + HOST, lambda route: route.fulfill(body=host, content_type="text/html; charset=utf-8"))
    open_for_instant(page, site.url + "course/first-kernel/")
    for _ in range(2):
        page.locator(".md-nav--primary a", has_text=re.compile(r"^\s*Fused softmax\s*(\d+ min|$)")).click()
        page.locator("grid-explorer").scroll_into_view_if_needed()
        page.locator("grid-explorer [value=floor]").check()
        assert "Elements 768 to 999 belong to no program" in page.locator("grid-explorer .explorer-words").inner_text()
        page.locator(".md-nav--primary a", has_text="Your first kernel").click()
        page.wait_for_function("document.title.startsWith('Your first kernel')")
        assert page.locator("grid-explorer").count() == 0
    assert page.evaluate("window.marker") is True, "the whole page was loaded anew"


def test_two_of_a_kind_do_not_share_their_choices(explorers):
    page = explorers()
    page.evaluate(
        """document.querySelector("article").insertAdjacentHTML(
             "beforeend", "<grid-explorer dimensions=2 formula=axes></grid-explorer>")"""
    )
    second = page.locator("grid-explorer").nth(1)
    assert second.locator("[value=axes]").is_checked()
    assert page.locator("grid-explorer [value=cdiv]").first.is_checked()
    second.locator("[value=floor]").check()
    assert page.locator("grid-explorer [value=cdiv]").first.is_checked()


def test_the_scripts_weigh_little():
    weight = sum(len(gzip.compress((pages.ROOT / "docs" / "assets" / f"{name}.js").read_bytes(), 9)) for name in MODULES)
    assert weight <= 17 * 1024, f"{weight} bytes compressed"
