"""The inliner: a published program holds the library's own text, in an order that runs, or is refused."""

import ast
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scripts.provenance import programs, records
from scripts.provenance.digest import digest
from scripts.provenance.follow import Code, CodeError
from scripts.provenance.inline import inline, needed
from tests import turns
from tests.scripts.trees import put

# A module needs the next one while it is imported, and the names run against that order.
LIBRARY = {
    "kernels/__init__.py": "from kernels.area import area\n\n__all__ = ['area']\n",
    "kernels/area.py": '''"""Areas."""

import math
import os  # nothing here needs it
from functools import cache, partial

from kernels.round import PI, unused
from kernels.size import DOUBLE, check

# --8<-- [start:four]
# Twice the double,
# and no more.
FOUR = (
    2 * DOUBLE
)
# --8<-- [end:four]
LOW, HIGH = 0, 9
limit: int = HIGH


# --8<-- [start:area]
@cache
def area(radius):
    """The area of a circle.

    # not a comment
    """
    check(radius)  # raises
    # --8<-- [start:inner]
    return PI * radius**2 + small(0)
    # --8<-- [end:inner]
# --8<-- [end:area]


def small(x=LOW):
    return math.floor(x) + FOUR - 4


def forgotten():
    return os.getcwd(), partial
''',
    "kernels/round.py": "import math\n\nfrom kernels.size import DOUBLE\n\nPI = math.pi * DOUBLE / 2\nunused = 1\n",
    "kernels/size.py": """DOUBLE = 2


class Wrong(ValueError):
    pass


def check(x):
    if x < 0:
        raise Wrong(x)
""",
}
PROGRAM = '''"""Print an area."""
# needs: cuda
import math

from kernels.area import area

# --8<-- [start:print]
for radius in (1, 2):
    print(round(area(radius) / math.pi, 6))
    #> 1.0
# --8<-- [end:print]
'''
PAGE = "---\nsubtitle: 5 min\n---\n\n# Areas { #top }\n\n[tiny/area.py](../programs/tiny/area.py){ .program }\n"


@pytest.fixture
def tree(tmp_path) -> Path:
    put(tmp_path, LIBRARY | {"snippets/tiny/area.py": PROGRAM, "docs/course/areas.md": PAGE})
    return tmp_path


def published(tree: Path, text: str = PROGRAM, **library: str) -> str:
    put(tree, {"snippets/tiny/area.py": text} | {f"kernels/{name}.py": module for name, module in library.items()})
    return inline("tiny/area", Code(tree))


def run(text: str, folder: Path) -> list[str]:
    """What a program prints where no library is."""
    (folder / "alone").mkdir()
    (folder / "alone/program.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-I", "program.py"]
    done = subprocess.run(command, cwd=folder / "alone", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + text
    return done.stdout.splitlines()


EXPECTED = '''# Blockwise, Areas (course/areas/): tiny/area.py. MIT license.
# Needs Python 3.11 or newer and a CUDA GPU.
# The page's own part begins on line 53, after what it takes from the library.
"""Print an area."""
# needs: cuda
import math

from functools import cache


# From kernels/size.py
DOUBLE = 2


class Wrong(ValueError):
    pass


def check(x):
    if x < 0:
        raise Wrong(x)


# From kernels/round.py
PI = math.pi * DOUBLE / 2


# From kernels/area.py
# Twice the double,
# and no more.
FOUR = (
    2 * DOUBLE
)


LOW, HIGH = 0, 9


@cache
def area(radius):
    """The area of a circle.

    # not a comment
    """
    check(radius)  # raises
    return PI * radius**2 + small(0)


def small(x=LOW):
    return math.floor(x) + FOUR - 4


# The page's own part: snippets/tiny/area.py

for radius in (1, 2):
    print(round(area(radius) / math.pi, 6))
    #> 1.0
'''


def test_a_program_holds_what_it_needs_and_nothing_else(tree):
    assert published(tree) == EXPECTED


def test_it_runs_alone(tree):
    assert run(published(tree), tree) == ["1.0", "4.0"]


def test_the_page_s_own_part_begins_where_it_is_said(tree):
    lines = published(tree).splitlines()
    (said,) = re.findall(r"begins on line (\d+)", lines[2])
    assert lines[int(said) - 1] == "# The page's own part: snippets/tiny/area.py"


def test_a_program_without_the_library_stays_as_it_is_below_its_head(tree):
    text = '"""Nothing."""\nprint("nothing")\n'
    *head, rest = published(tree, text).split("\n", 3)
    assert rest == text
    assert head[1:] == ["# Needs Python 3.11 or newer.", "# The page's own part begins on line 4."]


def test_what_a_program_needs_is_said():
    switch = 'import torch\nif True:\n    os.environ["TRITON_INTERPRET"] = "1"\nimport triton\n'
    numpy = "; where there is no CUDA GPU also numpy, for Triton's interpreter"
    assert needed(switch, "") == f"Python 3.11 or newer, torch and triton{numpy}"
    assert needed(f"{switch}from numpy import array\n", "") == "Python 3.11 or newer, torch, triton and numpy"
    assert needed("import torch\n", "sm_90") == "Python 3.11 or newer, torch and a GPU of sm_90"


def test_a_name_taken_from_the_package_is_the_module_s(tree):
    assert published(tree, PROGRAM.replace("kernels.area", "kernels")) == EXPECTED


def test_a_definition_of_another_program_is_written_in_and_counts(tree):
    text = PROGRAM.replace("from kernels.area import area", "from snippets.tiny.shape import area")
    assert text != PROGRAM
    shape = LIBRARY["kernels/area.py"] + "\nif __name__ == '__main__':\n    area(1)\n"
    put(tree, {"snippets/tiny/shape.py": shape})
    assert published(tree, text) == EXPECTED.replace("# From kernels/area.py", "# From snippets/tiny/shape.py")
    code = ["snippets/tiny/area.py"]
    before = digest(code, Code(tree))
    put(tree, {"snippets/tiny/shape.py": shape.replace("**2", "**3")})
    assert digest(code, Code(tree)) != before


def test_two_imports_are_written_in_once_and_in_the_first_one_s_place(tree):
    program = PROGRAM.replace("area import area\n", "area import (\n    area,\n)\nfrom kernels.size import check\n")
    assert published(tree, program) == EXPECTED


def test_an_import_of_the_program_s_own_is_not_repeated_where_it_comes_first(tree):
    text = published(tree, PROGRAM.replace("import math\n", "from functools import cache\nimport math\n"))
    assert text.count("import math") == 1 and text.count("import cache") == 1


def test_an_import_that_comes_too_late_is_written_in_before_the_library(tree):
    program = PROGRAM.replace("import math\n\nfrom kernels.area import area\n", "from kernels.area import area\n\nimport math\n")
    text = published(tree, program)
    assert text.index("import math") < text.index("PI = math.pi")
    assert run(text, tree) == ["1.0", "4.0"]


def test_an_import_that_the_program_repeats_stands_once(tree):
    shown = "# --8<-- [start:imports]\nimport math\nfrom math import pi, tau\n# --8<-- [end:imports]\n"
    program = PROGRAM.replace("from kernels.area", f"{shown}from kernels.area")
    program = program.replace("area import area\n", "area import area\nfrom math import e, tau\nfrom functools import cache\n")
    text = published(tree, f"{program}print(e, pi, tau, cache)\n")
    assert text.count("import math\n") == 1 and text.count("import cache") == 1
    assert re.findall("from math import .*", text) == ["from math import pi, tau", "from math import e"]
    assert len(run(text, tree)) == 3


def test_an_import_of_a_name_that_is_bound_anew_stays(tree):
    text = '"""Two."""\nimport math\nmath = None\nimport math\nprint(math.pi)\n'
    assert published(tree, text).endswith(text)


def test_the_same_import_of_two_modules_is_added_once(tree):
    text = published(tree, PROGRAM.replace("import math\n", "").replace(" / math.pi", ""))
    assert text.count("import math") == 1


# What is refused

REFUSED: dict[str, tuple[str, dict[str, str], str]] = {
    "a renamed import": (PROGRAM.replace("import area", "import area as a"), {}, r"snippets/tiny/area\.py:5: `as`"),
    "a renamed import in the library": (
        PROGRAM,
        {"round": LIBRARY["kernels/round.py"].replace("import DOUBLE", "import DOUBLE as D")},
        r"kernels/round\.py:3: `as`",
    ),
    "a relative import": (PROGRAM.replace("from kernels.area", "from .area"), {}, "relative imports cannot be followed"),
    "a relative import in the library": (
        PROGRAM,
        {"round": LIBRARY["kernels/round.py"].replace("kernels.size", ".size")},
        r"kernels/round\.py:3: write `from kernels\.<module> import <name>`",
    ),
    "the whole library": (
        f"{PROGRAM}import kernels\n",
        {},
        "imports from kernels elsewhere than at the top level, or not by name",
    ),
    "a whole module": (f"{PROGRAM}import kernels.size\n", {}, "or not by name"),
    "an import inside a function": (
        f"{PROGRAM}def f():\n    from kernels.size import check\n",
        {},
        "elsewhere than at the top level",
    ),
    "a condition at the library's top level": (
        PROGRAM,
        {"size": LIBRARY["kernels/size.py"].replace("DOUBLE = 2", "if True:\n    DOUBLE = 2")},
        r"kernels/size\.py:1: only imports and definitions",
    ),
    "an import inside the library's function": (
        PROGRAM,
        {"size": LIBRARY["kernels/size.py"].replace("    if", "    from kernels.round import PI\n    if")},
        "elsewhere than at the top level",
    ),
    "an unknown name": (PROGRAM.replace("import area", "import areas"), {}, r"kernels/area\.py: defines no areas"),
    "an unknown name of the package": (
        PROGRAM.replace("kernels.area import area", "kernels import areas"),
        {},
        r"there is no module kernels\.areas",
    ),
    "everything": (PROGRAM.replace("import area", "import *"), {}, "cannot be followed into a published program"),
    "an unknown name in the library": (
        PROGRAM,
        {"size": "DOUBLE = 2\n"},
        r"kernels/size\.py: defines no check",
    ),
    "two definitions of one name": (
        PROGRAM,
        {"size": f"{LIBRARY['kernels/size.py']}    small()\n\n\ndef small():\n    pass\n"},
        r"small is defined both in \S+/(area|size)\.py and in \S+/(area|size)\.py",
    ),
    "a definition and an import of one name": (
        PROGRAM,
        {"size": f"{LIBRARY['kernels/size.py']}    cache(x)\n\n\ndef cache(x):\n    pass\n"},
        r"kernels/size\.py: cache is defined here and imported elsewhere",
    ),
    "two imports of one name": (
        PROGRAM,
        {"size": f"from weakref import WeakKeyDictionary as cache\n\n{LIBRARY['kernels/size.py']}    cache()\n"},
        "cache is imported otherwise elsewhere",
    ),
    "a function of Python's beside the library's of its name": (
        PROGRAM.replace("import area\n", "import area\nfrom kernels.top import max\n"),
        {"top": "def max(x):\n    return x\n", "size": f"{LIBRARY['kernels/size.py']}    max(x, 1)\n"},
        r"kernels/size\.py:\d+: means Python's max, which another module would hide",
    ),
    "a variable of the library's name": (f"{PROGRAM}FOUR = 4\n", {}, r"FOUR is also a name of the library's code"),
    "a function of the library's name": (f"{PROGRAM}def small(): pass\n", {}, r"small is also a name of the library's code"),
    "a loop over the library's name": (PROGRAM.replace("radius", "PI"), {}, r"PI is also a name of the library's code"),
    "another import of the library's name": (
        f"from os import path as cache\n{PROGRAM}",
        {},
        r"cache is also a name of the library's",
    ),
}


@pytest.mark.parametrize("program, library, message", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_published_is_refused(tree, program, library, message):
    with pytest.raises(CodeError, match=message):
        published(tree, program, **library)


@pytest.mark.parametrize("program", [f"{PROGRAM}unused = 2\nforgotten = 3\n", f"{PROGRAM}def f():\n    FOUR = 4\n"])
def test_names_that_do_not_meet_pass(tree, program):
    assert published(tree, program).startswith(EXPECTED)


# The programs of this site

NAMES = programs.snippet_names()


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    code = Code()
    return {name: inline(name, code) for name in NAMES}


def test_the_same_sources_give_the_same_bytes(texts):
    program = "import json\nfrom scripts.provenance import follow, inline\ncode = follow.Code()\n"
    names = turns.part(NAMES, 6, "scripts/provenance/inline.py", "scripts/provenance/follow.py")
    program += f"print(json.dumps({{name: inline.inline(name, code) for name in {names}}}))"
    variables = os.environ | {"PYTHONPATH": str(records.ROOT), "PYTHONHASHSEED": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {name: texts[name] for name in names}


@pytest.mark.parametrize("name", NAMES)
def test_a_published_program_is_python_without_the_library_and_without_markers(name, texts):
    imports = [node for node in ast.walk(ast.parse(texts[name])) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [line for node in imports if re.search(r"(from|import) kernels\b", line := ast.unparse(node))] == []
    assert "--8<--" not in texts[name]
    assert texts[name].endswith("\n") and not texts[name].endswith("\n\n") and "\n\n\n\n" not in texts[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_published_program_imports_once_and_says_where_the_page_s_part_begins(name, texts):
    lines = texts[name].splitlines()
    body = ast.parse(texts[name]).body
    imports = [ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert len(set(imports)) == len(imports)
    (said,) = re.findall(r"begins on line (\d+)", lines[2])
    (page,) = re.findall(r"^# Blockwise, .+ \(([\w/-]+/)\): .+\. MIT license\.$", lines[0])
    assert (records.ROOT / "docs" / f"{page.rstrip('/')}.md").exists()
    marker = f"# The page's own part: snippets/{name}.py"
    assert lines.count(marker) == (lines[int(said) - 1] == marker), "marked where it is said, or begins under the head"
    assert marker in lines or said == "4"


def test_no_published_program_uses_a_name_that_it_lacks(texts, tmp_path):
    for name, text in texts.items():
        put(tmp_path, {f"{name}.py": text})
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821,F822,F823", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def segments(text: str) -> dict[str, str]:
    """Each function, class and value of a program's top level, with its decorators, as it is written."""
    lines, found = text.splitlines(), {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign):
            name = getattr(node, "name", "") or ast.unparse(node).partition(" =")[0].partition(":")[0]
            first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
            found[name] = "\n".join(line for line in lines[first - 1 : node.end_lineno] if " --8<-- [" not in line)
    return found


@pytest.fixture(scope="module")
def closures() -> dict[str, list[Path]]:
    """The files that each program takes something from."""
    code = Code()
    paths = {name: programs.snippet_path(name) for name in NAMES}
    reached = {name: code.followed(code.imports(path).values()) for name, path in paths.items()}
    return {name: sorted({place.path for place in places} - {paths[name]}) for name, places in reached.items()}


@cache
def segments_of(path: Path) -> dict[str, str]:
    return segments(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_the_library_s_text_stands_letter_for_letter(name, texts, closures):
    snippet = programs.snippet_path(name)
    own = segments(snippet.read_text(encoding="utf-8"))
    library: dict[str, set[Any]] = {}  # a function under PyTorch's name may be called as one of the library's own
    for path in closures[name]:
        for key, text in segments_of(path).items():
            library.setdefault(key, set()).add(text)
    taken = {key: text for key, text in segments(texts[name]).items() if key not in own}
    assert {key: text for key, text in taken.items() if text not in library[key]} == {}
    assert bool(taken) == (re.search("^from (kernels|snippets)", snippet.read_text(encoding="utf-8"), re.MULTILINE) is not None)
