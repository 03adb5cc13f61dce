"""No measured number is typed by hand."""

from pathlib import Path

import pytest

from tests.docs import number_lint
from tests.docs.pages import ROOT

HERE = Path(__file__).resolve().parent
NBSP, THIN, NARROW = "\u00a0", "\u2009", "\u202f"

PLANTED = [
    "The fused kernel is 1.7x faster than the eager one.",
    "On long rows the gain is **1.7**× over PyTorch.",
    "It runs twice as fast as the chain of five operations.",
    "The library's softmax is\nthree times\nfaster here.",
    "One launch takes about 4.3\nµs on this machine.",
    "A launch costs ten microseconds, whatever the kernel does.",
    "The copy reaches 4,219 GB/s in the same run.",
    f"The copy reaches 4.2{NBSP}TB/s in the same run.",
    f"The kernel moves 4{NARROW}219{NARROW}GB/s.",
    "The kernel stays at 95 % of the copy's bandwidth.",
    f"That is ninety-five{THIN}percent of what the memory can do.",
    "Compared with eager, this is an order of magnitude better.",
    "The last version beats the first by a factor of three.",
    "A tenfold gain waits for whoever fuses the two.",
    "The kernel needs a tenth of the time of the unfused one.",
    "It is only half as fast on rows that do not divide evenly.",
    "Doing both at once halves the run time.",
    "The kernel reaches two thirds of the peak.",
    "Each thread uses 42 registers.",
    "The compiler gives every thread two hundred and fifty-five registers.",
    "At this length the compiler spills 16 bytes a thread.",
    "Past it, 240 bytes are spilled to local memory.",
    "The occupancy drops from 50 to 25 when the block grows.",
    "The L2 hit rate is *0.93* during the second pass.",
    "In this range the speedup is 2.3, and nothing is lost.",
    "The matmul sustains 726 TFLOP/s.",
    "It computes at 726 TFLOPS, as the library does.",
    "The whole benchmark takes twelve minutes.",
    "It finished in 1.3 s on the second run.",
    "The kernel alone ran for half a millisecond.",
    "| n | time (ms) |\n|---|---|\n| 1024 | 0.45 |",
    "| n | eager | ours |\n|---|---|---|\n| 4096 | 2,310 GB/s | 4,102 GB/s |",
    "| | short rows | long rows |\n|---|---|---|\n| Registers a thread | 32 | 64 |",
    "| implementation | speedup (×) |\n|---|---|\n| blockwise | 1.7 |",
    "| implementation | against eager |\n|---|---|\n| blockwise | twice as fast |",
    "<table><tr><th>rows</th><th>GB/s</th></tr>\n<tr><td>64</td><td>3100</td></tr></table>",
    "All times are in milliseconds.\n\n| n | eager | ours |\n|---|---|---|\n| 4096 | 0.81 | 0.45 |",
    "![The kernel is 1.4 times faster than eager](chart.svg)",
    '![A chart](chart.svg "Bandwidth of 4.2 TB/s at the right edge")',
    "<figure><img src=chart.svg alt='95% of the copy'></figure>",
    "<figure>\n<figcaption>Softmax on one GPU: <b>1.7</b>× the\nthroughput of eager.</figcaption>\n</figure>",
    "---\ndescription: A softmax that is 1.7x faster.\n---\n\nText.",
    '!!! note "Three times the bandwidth"\n\n    Nothing here.',
    '=== "40 % faster"\n\n    Nothing here.',
    '```{.python title="runs in 3 ms" data-program="a/b"}\n--8<-- "snippets/a/b.py:c"\n```',
    "```text\ncopy   4219.3 GB/s\n```",
    "The row kernel is 1.5–2.3x quicker below 1024 columns.",
    "It is between two and three times slower on one row.",
    "- first: 0.8 ms\n- second: 0.4 ms",
    "Bandwidth\n:   4.2 TB/s on the copy.",
    "The result[^1] holds.\n\n[^1]: At 1980&nbsp;MHz and 700&nbsp;W.",
    "Reads come at [4.2](data.csv) [TB/s](glossary.md).",
    "The kernel reaches `4.2` TB/s.",
    "Its best run took `0.45 ms`.",
    'Its rate is [= "4.2" =] TB/s.',
    "[% set rate = 4.2 %]\nIts rate is [= rate =] TB/s.",
    "The interpreter is a hundredfold slower.",
    "A run is faster by a third when the rows are even.",
    "The loop compiles to 14 instructions and takes 400 cycles.",
    "The four kernels together take three times as long as the one.",
    "The fused kernel takes a third less time.",
    "Latency falls by half, and the bandwidth of the copy is 4.2.",
    "The kernel is 2 × faster.",
    "Measured gain: ×1.7 on the whole step.",
    "A quarter of the bandwidth is lost.",
    "This moves five bytes per cycle and 2.1 TB s⁻¹ in all.",
    '<details title="saves 12 µs">x</details>',
    "### 1.7× in one pass",
    "> The kernel reached 90\n> percent of the copy.",
    "The compiler spends 96 KB of shared memory on it.",
    "Twice the bandwidth, half the code.",
    "The 255-register kernel and the 10-microsecond launch.",
]

INNOCENT = [
    "Launch a grid of eight and eight copies run.",
    "With n = 1000 and BLOCK = 256 the grid has 4 programs.",
    "The kernel reads 2n elements and writes n elements.",
    "Adding n numbers of 4 bytes moves 12n bytes.",
    "An element has 4 bytes, and addresses are aligned to 16 bytes.",
    "3 × 4 = 12 elements, so the last 4 lanes are masked.",
    "(1000 + 255) // 256 = 4",
    "The grid is rounded up: 1000 / 256 is 3.9, so 4 programs run.",
    "A program has 32 lanes a warp and four warps.",
    "The library takes rows of 32,768 elements and more.",
    "The matrix is 8192 × 4096, in blocks of 64 × 64.",
    "The shape is 8192x4096 and the tile 2x2.",
    "Tested with Triton 3.6.0, torch 2.13.0 and Python 3.11.",
    "It was measured on 20 November 2026.",
    "On 2026-11-20 the driver was 580.159.04.",
    "Figure 3 shows how program 2 owns elements 512 to 767.",
    "Each program writes its own number, 0 to 3.",
    "The row is read three times, and written twice.",
    "The second pass reads x a third time.",
    "Twice as many programs run when the block is half as large.",
    "Half of the lanes are masked in the last program.",
    "A quarter of the elements lie past the end.",
    "In half precision a number has 16 bits.",
    "The block keeps its row in 32-bit registers.",
    "The values stay in registers, one row a program.",
    "The kernel uses [= compiled.add.registers | count =] registers a thread.",
    "The copy reaches [= ceiling.copy | gbps =], and ours [= m.add | percent =] of it.",
    "It is [= (a / b) | times =] faster than eager.",
    "| n | programs | BLOCK |\n|---|---|---|\n| 1000 | 4 | 256 |\n| 4096 | 16 | 256 |",
    "| n | time (ms) |\n|---|---|\n| 1024 | [= m.x \\| ms =] |",
    "| x | y | x + y |\n|---|---|---|\n| 1.0 | 2.5 | 3.5 |",
    "| operation | reads | writes |\n|---|---|---|\n| `exp` | 100,000 | 100,000 |",
    "| Triton | runs |\n|---|---|\n| 3.6 | yes |\n| 3.9 | yes |",
    "```{.python data-program=\"a/b\"}\nprint('1.7x faster, 3 ms')\n```",
    "```bash\nsleep 3  # 3 seconds, 95 %\n```",
    "Write `offsets % 4`, never `x * 100 %`, and keep `num_warps=4`.",
    "17 % 4 = 1, so one element is left over.",
    "The GPU has 141 GB of memory and the matrix takes 128 MB.",
    "A warp is 32 threads; four warps are 128 threads.",
    "See sections 2 and 3, and [chapter 2](../course/fused-softmax.md).",
    "See <https://example.org/1.7x-faster-95%25> for more.",
    "[The paper](https://example.org/3ms 'Attention, 2022') has 12 pages.",
    "Compile for sm_80, sm_90 and sm_100.",
    "The tests cover rows from 1 to 262,144 elements.",
    "There are 2³¹ elements, so int32 offsets overflow.",
    "y = 2x + 1 is computed in one pass.",
    "The derivative of x² is 2x.",
    "Unrolling the loop by a factor of 4 needs four accumulators.",
    "Stop each program after a time limit of 600 seconds.",
    "This chapter can be read in ten minutes.",
    "The fused kernel does one read and one write instead of five and three.",
    "A float16 has 11 significant bits, so 2049 is not one of them.",
    "Both compute about 5 floating-point operations an element.",
    "The bandwidth at 4096 columns is lower than at 8192.",
    "An exponent of 100.0 overflows; exp(88.7) does not.",
    "1. Load the row.\n2. Subtract the maximum.\n3. Exponentiate.",
    "What is the bandwidth in chapter 2 bound by?",
    "The kernel is as fast as the copy, and faster than eager.",
    "Each run takes the median of many calls; see the percentiles.",
    '<span id="step-3" class="x2">Step 3 of 4</span>',
    '![Four programs, each with 256 lanes](grid.svg){ width="320" }',
    "## 2. The mask { #mask }",
    "Copyright 2026. MIT license.",
    "The last 24 lanes of the fourth program are masked.",
    "One program a row: 100 rows, 100 programs.",
    "A vector of 5,000 numbers needs 5 programs of 1,024.",
    "Latency is hidden when many warps are in flight, 64 at most.",
    "Rows twice as long need a block twice as large.",
    "Two programs may run at the same time.",
    "Reads 3 × n elements, with n = 98,432.",
]


def lint(text: str) -> list[str]:
    return [str(each) for passage in number_lint.passages.markdown(text) for each in number_lint.findings_in("page.md", passage)]


def test_enough_is_planted():
    assert len(set(PLANTED)) >= 40 and len(set(INNOCENT)) >= 40


@pytest.mark.parametrize("text", PLANTED)
def test_a_typed_figure_is_found(text):
    assert lint(text)


@pytest.mark.parametrize("text", INNOCENT)
def test_an_innocent_number_passes(text):
    assert lint(text) == []


def test_no_measured_number_is_typed_by_hand():
    allowed = number_lint.read_allowed((HERE / "allowed_numbers.txt").read_text(encoding="utf-8"))
    assert number_lint.judge(ROOT, allowed) == []


SOURCES = {
    "README.md": "A softmax at 4.2 TB/s.\n",
    "docs/course/page.md": "Text.\n\nA softmax at 4.2\nTB/s.\n",
    "docs/assets/grid.svg": '<svg xmlns="http://www.w3.org/2000/svg"><title>A softmax at 4.2 TB/s</title></svg>\n',
    "docs/overrides/home.html": "<p>{{ config.x }}</p>\n<p>A softmax at <b>4.2</b> TB/s</p>\n",
    "kernels/softmax/softmax.py": 'def softmax(x):\n    """Softmax.\n\n    At 4.2 TB/s.\n    """\n',
    "snippets/a/b.py": "x = 1  # at 4.2 TB/s\n",
    "snippets/a/questions.toml": 'why = "At 4.2 TB/s."\n',
    "CHANGES.md": "At 4.2 TB/s.\n",
}
UNREAD = dict.fromkeys(["docs/baked/h200/a.md", "docs/generated/a.md", "docs/data/a.md"], "4.2 TB/s\n")


@pytest.fixture
def tree(tmp_path):
    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_every_kind_of_source_is_read(tree):
    root = tree(SOURCES | UNREAD | {"docs/about.md": '--8<-- "CHANGES.md"\n'})
    assert {each.page for each in number_lint.findings(root)} == set(SOURCES)


def test_a_finding_names_its_line(tree):
    found = number_lint.findings(tree({name: SOURCES[name] for name in ("docs/course/page.md", "kernels/softmax/softmax.py")}))
    assert [(each.page, each.line) for each in found] == [("docs/course/page.md", 3), ("kernels/softmax/softmax.py", 4)]


def test_a_listed_phrase_passes_and_a_stale_one_fails(tree):
    root = tree({"docs/a.md": "Each thread has 255 registers at most, and runs 3 ms."})
    allowed = number_lint.read_allowed("# comment\n\ndocs/a.md | 255 registers at most | the instruction set's limit\n")
    assert ["3 ms" in problem for problem in number_lint.judge(root, allowed)] == [True]
    stale = number_lint.read_allowed("docs/a.md | 254 registers | gone\ndocs/a.md | Each thread | no number\n")
    assert sum("no longer occurs" in problem for problem in number_lint.judge(root, stale)) == 2
    assert any("no reason" in problem for problem in number_lint.judge(root, number_lint.read_allowed("docs/a.md | 3 ms | ")))
