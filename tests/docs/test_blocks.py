"""What the first button of a block copies: the block as it is shown, and what that needs, in an order that runs."""

import json
import re
import subprocess
import sys
import textwrap

import pytest

from scripts.pages.blocks import Blocks
from scripts.provenance.follow import Code, CodeError
from tests.docs import page_rules, pages
from tests.docs.pages import ROOT
from tests.scripts.trees import put

# The blocks of this site


@pytest.fixture(scope="module")
def published() -> dict[str, list[dict[str, str]]]:
    """What is published for each page, by its address."""
    pages.prepare()
    files = {address: ROOT / "docs/data/blocks" / f"{address.strip('/') or 'index'}.json" for address in pages.addresses()}
    return {address: json.loads(file.read_text(encoding="utf-8")) for address, file in files.items() if file.exists()}


def test_every_block_is_published_once_and_in_order(published):
    written: dict[str, list[str]] = {}
    for block in pages.blocks():
        written.setdefault(pages.address_of(block.page), []).append(block.program)
    assert {address: [block["program"] for block in blocks] for address, blocks in published.items()} == written
    files = sorted((ROOT / "docs/data/blocks").rglob("*.json"))
    assert len(files) == len(published)


def test_a_block_holds_what_is_shown_letter_for_letter(published):
    waiting = {address: iter(blocks) for address, blocks in published.items()}
    for block in pages.blocks():
        lines = next(waiting[pages.address_of(block.page)])["text"].splitlines()
        for target in block.includes:
            shown = textwrap.dedent(pages.expand(target)).rstrip().splitlines()
            assert page_rules.stands_in(shown, lines), f"{block.where}: {target}"


def test_no_block_uses_a_name_that_it_lacks(published, tmp_path):
    for address, blocks in published.items():
        for number, block in enumerate(blocks):
            compile(block["text"], f"{address}{block['program']}", "exec")
            put(tmp_path, {f"{address}{number}.py": block["text"]})
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821,F822,F823", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_library_is_imported_and_other_programs_are_written_in(published):
    for blocks in published.values():
        for block in blocks:
            assert "--8<--" not in block["text"] and "from snippets" not in block["text"], block["program"]
            needs = block["text"].splitlines()[1]
            assert ("blockwise-kernels" in needs) == ("from kernels" in block["text"]), block["program"]
            tools = re.search(r"^ *from kernels\.(tools|labs)\b", block["text"], re.MULTILINE)
            assert ("blockwise-kernels-tools" in needs) == bool(tools), block["program"]


# A small program

FILES = {
    "kernels/__init__.py": "",
    "kernels/area.py": """import math

LIMIT = 3


# --8<-- [start:area]
# Of a circle.
def area(radius):
    return math.pi * check(radius) ** 2
# --8<-- [end:area]


def check(radius):
    return min(radius, LIMIT)
""",
    "snippets/tiny/unit.py": """import math

from kernels.area import LIMIT

STEP = math.tau / LIMIT


def unit(x):
    return x * STEP


def forgotten():
    return 1
""",
    "snippets/tiny/areas.py": '''"""Areas."""
# counters: all
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported

# --8<-- [start:imports]
import torch
import triton
# --8<-- [end:imports]

from kernels.area import area, check
from snippets.tiny.unit import unit

# How many.
COUNT = 3
print(COUNT)
#> 3


# --8<-- [start:several]
def several(x):
    # --8<-- [start:inner]
    return [x] * COUNT
    # --8<-- [end:inner]
# --8<-- [end:several]


# --8<-- [start:print]
for x in several(2):
    print(unit(x), check(x))
# --8<-- [end:print]

# --8<-- [start:area]
print(area(1))
#> 3.14
# --8<-- [end:area]

# --8<-- [start:torch]
ones = torch.ones(3)
# --8<-- [end:torch]
''',
}
SWITCH = """import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
"""
EXPECTED = {
    "torch": "import torch\n\nones = torch.ones(3)\n",
    "several": """# How many.
COUNT = 3


def several(x):
    return [x] * COUNT
""",
    "imports": f"""{SWITCH}
import torch
import triton
""",
    "area": f"""{SWITCH}
from kernels.area import area

print(area(1))
#> 3.14
""",
    "print": f"""{SWITCH}
import math

from kernels.area import LIMIT, check


STEP = math.tau / LIMIT


def unit(x):
    return x * STEP


# How many.
COUNT = 3


def several(x):
    return [x] * COUNT


for x in several(2):
    print(unit(x), check(x))
""",
    "imports kernels/area.py:area area": f"""{SWITCH}
import torch
import triton

import math

from kernels.area import check


# Of a circle.
def area(radius):
    return math.pi * check(radius) ** 2


print(area(1))
#> 3.14
""",
}


@pytest.fixture
def tree(tmp_path):
    put(tmp_path, FILES)
    return tmp_path


@pytest.mark.parametrize("shown, expected", EXPECTED.items(), ids=EXPECTED)
def test_a_block_holds_what_is_shown_and_what_that_needs(tree, shown, expected):
    targets = [part if ":" in part else f"snippets/tiny/areas.py:{part}" for part in shown.split()]
    assert Blocks(Code(tree)).text("tiny/areas", targets) == expected


PAGE = """# Areas { #top }

```{.python data-program="tiny/areas"}
--8<-- "snippets/tiny/areas.py:torch"
```

=== "A tab"

    ```{.python .gpu data-program="tiny/areas" title="x"}
    --8<-- "snippets/tiny/areas.py:imports"

    --8<-- "snippets/tiny/areas.py:area"
    ```

```{.cpp data-program="tiny/areas"}
int x;
```
"""


def test_the_blocks_of_a_page_say_where_they_come_from(tree):
    first, second = Blocks(Code(tree)).of("course/areas/", PAGE)
    lines = [
        "# Blockwise, Areas (course/areas/): a part of tiny/areas.py. MIT license.",
        "# Needs Python 3.11 or newer and torch.",
    ]
    assert first["program"] == "tiny/areas" and first["text"].splitlines()[:2] == lines
    assert "import triton" in second["text"] and second["text"].endswith("print(area(1))\n#> 3.14\n")


@pytest.mark.parametrize("target", ["snippets/tiny/areas.py:gone", "snippets/tiny/areas.py:"])
def test_a_region_that_is_not_there_is_named(tree, target):
    with pytest.raises(CodeError, match=r"areas\.py: there is no region"):
        Blocks(Code(tree)).text("tiny/areas", [target])
