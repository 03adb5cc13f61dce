"""A page is a program: every Python block runs as the page shows it, is published whole, and nothing is left over."""

import os
import re
import sys
from pathlib import Path

import pytest

from tests import turns
from tests.docs import page_rules, pages
from tests.docs.page_runner import run_page
from tests.docs.pages import ROOT

# Whoever reads these has not read a kernel of the library yet, and gets no more of it than a whole file can explain.
OPENING = ["why-kernels", "first-kernel", "hardware", "masking", "grid-math", "block-model", "memory", "fused-softmax"]
OPENING += ["mistakes"]
HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module", autouse=True)
def prepared():
    pages.prepare()


@pytest.fixture
def as_reader(monkeypatch, tmp_path):
    """The state in which a page runs: the interpreter where there is no GPU, no display, nothing compiled, an empty folder."""
    import torch

    assert torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET") == "1", "tests/conftest.py sets TRITON_INTERPRET=1"
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / ".triton"))
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    return tmp_path


NAMES = [pages.name_of(path) for path in pages.page_files()]
DEEPER = tuple(name for name in NAMES if name.startswith(("docs/deeper/", "docs/errors/", "docs/reference/outside")))


def files_of(name: str) -> list[str]:
    return [name, *re.findall(r'"((?:snippets|kernels)/[^":]+)', (ROOT / name).read_text(encoding="utf-8"))]


# Every lesson runs, and of the deeper pages, whose programs have fresh records, a few.
@pytest.mark.parametrize("page", [name for name in NAMES if name not in DEEPER] + turns.few(24, DEEPER, files_of))
def test_a_page_runs(page, eval_example, as_reader):
    problems = run_page(ROOT / page, eval_example, as_reader)
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def test_every_python_fence_has_the_one_form():
    assert page_rules.fence_problems(ROOT) == []


def test_blocks_are_made_of_regions():
    assert page_rules.include_problems(ROOT) == []


def test_every_block_has_its_program():
    assert page_rules.program_problems(ROOT) == []


def test_a_whole_file_of_an_opening_lesson_can_be_read_whole():
    assert page_rules.long_listings(ROOT, OPENING) == []


def test_the_list_of_programs_is_true():
    assert page_rules.listing_problems(ROOT) == []


def test_links_to_pages_are_written_whole():
    assert page_rules.page_link_problems(ROOT) == []


def test_no_snippet_is_an_orphan():
    assert page_rules.orphan_snippets(ROOT) == []


def test_region_markers_come_in_pairs():
    assert page_rules.marker_problems(ROOT) == []


def test_no_region_is_lost():
    assert page_rules.orphan_regions(ROOT, set(page_rules.read_list(HERE / "kept_regions.txt"))) == []


def test_most_blocks_run_on_a_cpu():
    assert page_rules.share_problems(ROOT) == []


def test_skipped_blocks_are_listed():
    assert page_rules.gpu_block_problems(ROOT, page_rules.read_list(HERE / "gpu_blocks.txt")) == []


def test_there_are_pages_with_blocks():
    assert pages.blocks()


SNIPPET = """import os

# --8<-- [start:sum]
total = 1 + 2
print(total)
#> 3
# --8<-- [end:sum]
"""
KERNEL = """# --8<-- [start:double]
def double(x):
    return 2 * x
# --8<-- [end:double]
"""
PUBLISHED = "import os\n\ndef double(x):\n    return 2 * x\n\ntotal = 1 + 2\nprint(total)\n#> 3\n"
PAGE = """---
title: Sums
---

```{.python data-program="sums/sum"}
--8<-- "kernels/double.py:double"
--8<-- "snippets/sums/sum.py:sum"
```
[sums/sum.py](../programs/sums/sum.py){ .program }
"""
LISTED = '[{"path": "programs/sums/sum.py", "page": "course/sums/", "needs": ""}]'
BLOCK = PAGE.split("\n\n")[1]


@pytest.fixture
def tree(tmp_path):
    """A small site that keeps every rule, with some of its files replaced."""

    def write(**changed: str) -> Path:
        files = {
            "docs/course/sums.md": PAGE,
            "docs/programs/sums/sum.py": PUBLISHED,
            "docs/data/programs.json": LISTED,
            "snippets/sums/sum.py": SNIPPET,
            "kernels/double.py": KERNEL,
        }
        for name, text in (files | {name.replace("__", "/"): text for name, text in changed.items()}).items():
            path = tmp_path / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path / "tree"

    return write


CHECKS = {
    "fences": page_rules.fence_problems,
    "includes": page_rules.include_problems,
    "programs": page_rules.program_problems,
    "listing": page_rules.listing_problems,
    "snippets": page_rules.orphan_snippets,
    "markers": page_rules.marker_problems,
    "regions": lambda root: page_rules.orphan_regions(root, set()),
    "share": page_rules.share_problems,
    "links": page_rules.page_link_problems,
    "gpu": lambda root: page_rules.gpu_block_problems(root, []),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_tree_that_keeps_the_rules_passes(tree, check):
    assert check(tree()) == []


UNSEEN = [
    "``` { .python }\nx = 1\n```",
    "```python\nx = 1\n```",
    "```{.py}\nx = 1\n```",
    "```Python title='x'\nx = 1\n```",
    "~~~python\nx = 1\n~~~",
    "````python\nx = 1\n````",
    "- item\n\n\t```python\n\tx = 1\n\t```",
    "    ```{.python}\n    x = 1\n    ```",
    "> ```python\n> x = 1\n> ```",
    "1. ```python\n   x = 1\n   ```",
    "```pycon\n>>> x = 1\n```",
    '```{.python linenums="1" data-program="sums/sum"}\nx = 1\n```',
    "```{.python .gpu}\nx = 1\n```",
    "```\nx = 1\n```",
    '<pre><code class="language-python">x = 1</code></pre>',
    "    #!python\n    x = 1",
]


@pytest.mark.parametrize("fence", UNSEEN)
def test_a_fence_in_another_form_is_reported(tree, fence):
    problems = page_rules.fence_problems(tree(docs__other=PAGE, **{"docs/other.md": f"Text.\n\n{fence}\n"}))
    assert [problem.partition(":")[0] for problem in problems] == ["docs/other.md"]


def test_fences_of_other_languages_and_fences_within_fences_pass(tree):
    text = "```bash\nmake test\n```\n\n````markdown\n```python\nx = 1\n```\n````\n\n```text\nout\n```\n"
    assert page_rules.fence_problems(tree(**{"docs/other.md": text})) == []


def put(old: str, new: str, text: str = PAGE) -> dict[str, str]:
    assert old in text
    return {"docs/course/sums.md": text.replace(old, new)}


def test_an_import_from_the_library_may_be_shown(tree):
    shown = SNIPPET.replace("total =", "from kernels.double import double\n\ntotal =")
    assert page_rules.program_problems(tree(**{"snippets/sums/sum.py": shown})) == []
    assert page_rules.program_problems(tree(**{"snippets/sums/sum.py": shown.replace("1 + 2", "2 + 1")}))


DEFECTS = {
    "a typed line": ("includes", put('--8<-- "kernels', 'x = 1\n--8<-- "kernels'), "typed line"),
    "an empty block": ("includes", put(PAGE.split("\n", 5)[5].partition("```")[0], ""), "includes nothing"),
    "a whole file": ("includes", put(".py:sum", ".py"), "no named region"),
    "lines by number": ("includes", put(".py:sum", ".py:2:3"), "no named region"),
    "a file from elsewhere": ("includes", put("kernels/double.py:double", "tests/x.py:double"), "no named region"),
    "a missing region": ("includes", put(".py:sum", ".py:total"), "could not be located"),
    "a missing file": ("includes", put("snippets/sums/sum", "snippets/sums/gone"), "gone"),
    "an unlisted program": ("programs", {"docs/data/programs.json": "[]"}, "not published"),
    "an unknown program": ("programs", put('"sums/sum"', '"sums/gone"'), "not published"),
    "a missing link": ("programs", put("[sums/sum.py]", "Some text.\n\n[sums/sum.py]"), "must stand"),
    "a wrong link": ("programs", put("(../programs", "(../../programs"), "must stand"),
    "other text": ("programs", {"docs/programs/sums/sum.py": PUBLISHED.replace("2 * x", "x + x")}, "does not stand in"),
    "a needless skip": ("programs", put("{.python ", "{.python .gpu "), "needs nothing more"),
    "a page that lacks it": ("listing", {"docs/data/programs.json": LISTED.replace("course/sums", "course/other")}, "neither"),
    "an unknown need": ("listing", {"docs/data/programs.json": LISTED.replace('""', '"tpu"')}, "path, page and needs"),
    "a doubled entry": ("listing", {"docs/data/programs.json": f"[{LISTED[1:-1]}, {LISTED[1:-1]}]"}, "listed twice"),
    "an orphan snippet": ("snippets", {"snippets/sums/other.py": "x = 1\n"}, "snippets/sums/other.py"),
    "an unclosed region": ("markers", {"kernels/double.py": KERNEL.partition("# --8<-- [end")[0]}, "one start and one end"),
    "a doubled region": ("markers", {"kernels/double.py": KERNEL * 2}, "one start and one end"),
    "a reversed region": ("markers", {"kernels/a.py": "# --8<-- [end:a]\n# --8<-- [start:a]\n"}, "one start and one end"),
    "a lost region": ("regions", {"kernels/b.py": "# --8<-- [start:b]\n# --8<-- [end:b]\n"}, "kernels/b.py:b"),
    "too few on a CPU": ("share", put(BLOCK, f"{BLOCK}\n\n{BLOCK}".replace("{.python ", "{.python .gpu ", 1)), "1 of 2"),
    "a page without a reason": ("share", put("{.python ", "{.python .gpu "), "say why"),
    "a stale reason": ("share", put("title: Sums", "no_cpu_blocks: none runs"), "says `no_cpu_blocks`"),
    "a link filled in": ("links", put("title: Sums\n---\n", "title: Sums\n---\n[a](../[= topic =].md)\n"), "filled in"),
    "an unlisted skip": ("gpu", put("{.python ", "{.python .gpu "), "docs/course/sums.md sums/sum: skipped"),
}


@pytest.mark.parametrize("check, changed, message", DEFECTS.values(), ids=DEFECTS)
def test_a_planted_defect_is_reported(tree, check, changed, message):
    problems = CHECKS[check](tree(**changed))
    assert any(message in problem for problem in problems), problems


def test_a_long_whole_file_is_reported(tree):
    root = tree()
    assert page_rules.long_listings(root, ["sums"]) == page_rules.long_listings(root, [], 3) == []
    assert page_rules.long_listings(root, ["sums"], 3) == ["docs/course/sums.md: sums/sum.py has 8 lines"]


def test_a_stale_list_is_reported(tree):
    root = tree()
    assert page_rules.gpu_block_problems(root, ["docs/course/sums.md sums/sum"])
    assert len(page_rules.orphan_regions(root, {"kernels/double.py:double", "kernels/gone.py:gone"})) == 2


SILENT = """# --8<-- [start:sum]
def never():
    print(3)
    #> 3
# --8<-- [end:sum]
"""
BROKEN = {
    "another result": (SNIPPET.replace("#> 3", "#> 4"), "Print output changed code"),
    "an error": (SNIPPET.replace("1 + 2", "1 / 0"), "ZeroDivisionError"),
    "an exit": (SNIPPET.replace("1 + 2", "exit(2)"), "SystemExit"),
    "an unprinted output": (SNIPPET.replace("print(total)\n", ""), "prints nothing"),
    "an output never reached": (SILENT, "prints nothing"),
    "a print without output": (SNIPPET.replace("#> 3\n", ""), "Print output changed code"),
}


@pytest.mark.parametrize("snippet, message", BROKEN.values(), ids=BROKEN)
def test_a_block_that_breaks_is_reported(tree, eval_example, as_reader, snippet, message):
    root = tree(**{"snippets/sums/sum.py": snippet})
    problems = run_page(root / "docs/course/sums.md", eval_example, as_reader, root)
    assert len(problems) == 1 and problems[0].startswith("docs/course/sums.md:5: ") and message in problems[0]


CHAINED = """```{.python data-program="sums/sum"}
--8<-- "snippets/sums/sum.py:sum"
```

??? note "Solution"

    ```{.python data-program="sums/next"}
    --8<-- "snippets/sums/next.py:next"
    ```

```{.python .gpu data-program="sums/never"}
--8<-- "snippets/sums/never.py:never"
```
"""


def test_blocks_share_the_names_of_their_page(tree, eval_example, as_reader):
    following = "# --8<-- [start:next]\nfor i in range(2):\n    print(total + i)\n    #> 3\n    #> 4\n# --8<-- [end:next]\n"
    never = "# --8<-- [start:never]\nraise SystemExit(1)\n# --8<-- [end:never]\n"
    root = tree(**{"docs/course/sums.md": CHAINED, "snippets/sums/next.py": following, "snippets/sums/never.py": never})
    assert run_page(root / "docs/course/sums.md", eval_example, as_reader, root) == []
