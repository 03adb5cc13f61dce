"""The digest of code: what enters it and what does not, how far it follows, and that places do not count."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.provenance import programs, records, sources
from scripts.provenance.digest import definitions, digest, own
from scripts.provenance.follow import Code, CodeError
from scripts.provenance.inline import inline
from tests import turns
from tests.scripts import trees


def hash_of(folder: Path, text: str) -> str:
    trees.put(folder, {"kernels/one.py": text})
    return digest(["kernels/one.py"], Code(folder))


# What the hash says

SOURCE = '''"""A module."""
import math
from functools import cache


@cache
def scaled(x: float, by: float = 2.5, *rest: int, keep=True, **more) -> float:
    """Scale."""
    total = x * by + 1  # the sum
    for value in rest:
        if value < 3 and keep:
            total -= value
    names = ["a", f"{total:.2f}", b"c"]
    return math.sqrt(total) if names else -total
'''
ALIKE = {
    "a comment": ("# the sum", "# another word"),
    "no comment": ("  # the sum", ""),
    "a new comment": ("    for value", "    # Each one.\n    for value"),
    "the module's docstring": ('"""A module."""', '"""Something else."""'),
    "no docstring": ('    """Scale."""\n', ""),
    "a docstring of several lines": ('"""Scale."""', '"""Scale.\n\n    Args:\n        x: what.\n    """'),
    "blank lines": ("\n    names", "\n\n    names"),
    "line breaks": ("x * by + 1", "(\n        x * by\n        + 1\n    )"),
    "parentheses": ("x * by + 1", "((x * by) + (1))"),
    "a trailing comma": ('b"c"]', 'b"c",]'),
    "other quotes": ('"a"', "'a'"),
    "another spelling of a number": ("2.5", "2.50"),
    "text in two parts": ('"a",', '"" "a",'),
    "indentation": ("            total -= value", "              total -= value"),
    "the end of the file": ("else -total\n", "else -total"),
}
OTHER = {
    "an operator": ("x * by", "x / by"),
    "an operator's order": ("x * by + 1", "x * (by + 1)"),
    "a comparison": ("value < 3", "value <= 3"),
    "a condition": ("and keep", "or keep"),
    "a sign": ("else -total", "else total"),
    "an assignment": ("total -= value", "total += value"),
    "a constant": ("value < 3", "value < 4"),
    "a constant's type": ("by + 1", "by + 1.0"),
    "a constant that is equal": ("by + 1", "by + True"),
    "a text": ('"a"', '"b"'),
    "bytes for a text": ('"a"', 'b"a"'),
    "a format": (".2f", ".3f"),
    "a conversion": ("{total:", "{total!r:"),
    "a name": ("math.sqrt(total)", "math.sqrt(by)"),
    "an attribute": ("math.sqrt", "math.cbrt"),
    "a function's name": ("def scaled", "def scale"),
    "a parameter's name": ("by: float", "factor: float"),
    "a default": ("by: float = 2.5", "by: float = 2"),
    "no default": ("keep=True", "keep"),
    "a keyword's default": ("keep=True", "keep=None"),
    "a type": ("x: float", "x: int"),
    "a star": ("*rest: int, keep", "rest: int = 0, *, keep"),
    "positions only": ("x: float, by", "x: float, /, by"),
    "a decorator": ("@cache\n", ""),
    "an import": ("from functools import cache", "from functools import lru_cache as cache"),
    "an order": ('["a", f"{total:.2f}"', '[f"{total:.2f}", "a"'),
    "a statement": ("            total -= value", "            total -= value\n            break"),
    "a statement's place": ("    names =", "        names ="),
    "a text that is returned": ('    """Scale."""', '    return """Scale."""'),
}


@pytest.mark.parametrize("old, new", ALIKE.values(), ids=ALIKE)
def test_the_hash_passes_over(tmp_path, old, new):
    assert SOURCE.count(old) == 1
    assert hash_of(tmp_path, SOURCE.replace(old, new)) == hash_of(tmp_path, SOURCE)


@pytest.mark.parametrize("old, new", OTHER.values(), ids=OTHER)
def test_the_hash_notices(tmp_path, old, new):
    assert SOURCE.count(old) == 1
    assert hash_of(tmp_path, SOURCE.replace(old, new)) != hash_of(tmp_path, SOURCE)


# Every form of statement and expression that Python 3.11 has, because the trees of newer ones differ from its own.
FORMS = r'''"""Forms."""
from __future__ import annotations

import asyncio, os.path as p
from math import *
from typing import Generic, TypeVar

T = TypeVar("T")
u"text"; N: int; M: dict[str, "list[int]"] = {**{}, "k": [*range(3)]}
numbers = 0x1F, 1_000, 1e400, 1e-7, 2.50, 3j, -0.0, ..., None, True, b"\x00\xff", "\N{BULLET}", "\ud800", "🫨", "🫩"


class Box(Generic[T], metaclass=type):
    """A class."""
    x: T
    __slots__ = ("x",)

    @property
    def größe(self) -> int:
        """A docstring."""
        return self.x[1:2, ..., ::-1] @ self.x


def f(a, /, b: int = 1, *args: int, c, d=None, **kwargs: float) -> tuple[int, ...]:
    "Only a docstring."
    global N
    def inner():
        nonlocal a
        a = lambda *xs, y=2, **z: (yield)
        yield from (i for i in xs if i if not i)
        return
    if (n := len(args)) > 10 and not a or b is not None and c not in d and a != b <= c:
        del args, kwargs["x"], a.b
    elif n: pass
    else: raise ValueError(f"{n!r:>{b}} {{}} {c=} {d:%Y-%m} {'a' 'b'}" f'{n:{"x"}^{10}}' "tail") from None
    while n:
        n -= 1; continue
    else:
        assert n == 0, "no"
    for i, *rest in zip(a, b, strict=True): break
    else: return *rest, i
    try: a @= b
    except (OSError, KeyError) as error: print(error, file=None)
    except Exception: raise
    else: a //= b ** ~c
    finally: a <<= b >> c & d | a ^ b % c
    try: ...
    except* TypeError: ...
    with open(a) as one, open(b) as (two, three): "not a docstring, but no more than one"
    return a if b else c, {i for i in a}, {k: v for k, v in b for w in c}, [i async for i in a], +a, a < b < c, f""


async def g(x):
    async with x as y, y: await y
    async for z in x: yield z
    match x:
        case 1 | -1 | 1 - 2j | None | "a" | p.sep: ...
        case [a, *_, b] if a > b: "text"
        case {"k": str() as k, **rest}: pass
        case Box(1, x=2) | (3,): pass
        case _: pass

@(lambda h: h)
class Empty: "Nothing."
'''
GOLDEN = "bb4ebd70f36bcd306be31d9bc47a9a3a6c6191d8bb9cb530d56a6e880f1455c3"
HASH = """
import sys
from pathlib import Path
from scripts.provenance.digest import digest
from scripts.provenance.follow import Code

print(digest(["kernels/one.py"], Code(Path(sys.argv[1]))))
"""


def pythons() -> list[str]:
    """One interpreter of each version from 3.11 on that this machine has, this one among them."""
    found = {f"{sys.version_info.major}.{sys.version_info.minor}": sys.executable}
    for minor in range(11, 20):
        version = f"3.{minor}"
        installed = sorted((Path.home() / ".pyenv/versions").glob(f"{version}*/bin/python{version}"))
        for path in [*map(str, installed), shutil.which(f"python{version}")]:
            if path and version not in found and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
                found[version] = path
    return list(found.values())


@pytest.mark.parametrize("python", pythons())
def test_every_python_finds_the_same_hash(tmp_path, python):
    trees.put(tmp_path, {"kernels/one.py": FORMS})
    variables = {"PYTHONPATH": str(records.ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([python, "-c", HASH, str(tmp_path)], env=variables, capture_output=True, text=True)
    assert done.stdout.strip() == GOLDEN, done.stderr


def test_no_form_is_passed_over(tmp_path):
    """Each line of the fixture counts: without it the hash is another, unless it is a docstring or no program is left."""
    whole = hash_of(tmp_path, FORMS)
    lines = FORMS.splitlines(keepends=True)
    silent = []
    for number, line in enumerate(lines):
        try:
            if hash_of(tmp_path, "".join(lines[:number] + lines[number + 1 :])) == whole:
                silent.append(line.strip())
        except CodeError:
            continue
    assert [line for line in silent if line] == ['"""Forms."""', '"""A class."""', '"""A docstring."""', '"Only a docstring."']


# Whose code counts


@pytest.fixture
def tree(tmp_path) -> Path:
    files = {f"kernels/{name}.py": text for name, text in trees.LIBRARY.items()}
    trees.put(tmp_path, files | {"snippets/tiny/plus.py": trees.PROGRAMS["plus"]})
    return tmp_path


@pytest.mark.parametrize("module, counts", {"plus": True, "checks": True, "times": False, "__init__": False}.items())
def test_a_change_in_a_module_counts_where_the_program_reaches_it(tree, module, counts):
    before = digest(["snippets/tiny/plus.py"], Code(tree))
    with (tree / f"kernels/{module}.py").open("a") as file:
        file.write("print(1)\n")
    assert (digest(["snippets/tiny/plus.py"], Code(tree)) != before) is counts


REACHED = """
import json
import os as operating
from kernels.checks import check

FIRST, SECOND = 1, 2
TABLE = {"f": FIRST}
if operating.name == "nt":
    MOST = 3
else:
    MOST = 4

def unused(x):
    return json.dumps(x)

def helper(x):
    return x + TABLE["f"] + MOST

class Tool:
    def use(self, x):
        check(x)
        return helper(x)

if __name__ == "__main__":
    print(unused(1))
"""
COUNTING = {
    "import os as operating": True,
    "import json": False,
    "1, 2": True,
    '{"f"': True,
    "MOST = 3": True,
    "MOST = 4": True,
    "json.dumps(x)": False,
    "x + TABLE": True,
    "check(x)": True,
    "return helper": True,
    "print(unused": False,
}


@pytest.mark.parametrize("part, counts", COUNTING.items())
def test_of_a_module_counts_what_the_program_reaches(tree, part, counts):
    trees.put(tree, {"kernels/tool.py": REACHED, "snippets/tiny/plus.py": "from kernels.tool import Tool\nTool().use(1)\n"})
    before = digest(["snippets/tiny/plus.py"], Code(tree))
    changed = part.replace("import ", "import sys, ") if part.startswith("import") else part.replace("(x)", "(x, 5)")
    changed = part.replace("1, 2", "1, 3").replace("= 3", "= 5").replace("= 4", "= 5") if changed == part else changed
    changed = {'{"f"': '{"g"', "x + TABLE": "x - TABLE", "return helper": "return 2 * helper"}.get(part, changed)
    changed = {"print(unused": "print(2, unused", "import os as operating": "import posix as operating"}.get(part, changed)
    assert REACHED.count(part) == 1 and changed != part
    trees.put(tree, {"kernels/tool.py": REACHED.replace(part, changed)})
    assert (digest(["snippets/tiny/plus.py"], Code(tree)) != before) is counts


def test_of_a_module_that_is_given_everything_counts(tree):
    trees.put(tree, {"kernels/tool.py": REACHED})
    before = digest(["kernels/tool.py"], Code(tree))
    trees.put(tree, {"kernels/tool.py": REACHED.replace("json.dumps", "json.loads")})
    assert digest(["kernels/tool.py"], Code(tree)) != before


# What ran, what is hashed and what the reader copies


def statements(text: str) -> list[str]:
    return own(ast.parse(text))


CHAPTERS = sorted({name.partition("/")[0] for name in programs.snippet_names()})
INLINER = turns.files("scripts/provenance/*.py")
ASKED = [name for name in CHAPTERS if turns.due(f"snippets/{name}", 3, *INLINER, *turns.files(f"snippets/{name}/*.py"))]


@pytest.mark.parametrize("chapter", ASKED)
def test_a_published_program_has_exactly_what_its_digest_is_made_of(chapter):
    code = Code()
    for name in programs.snippet_names():
        if name.startswith(f"{chapter}/"):
            path = programs.snippet_path(name)
            reached = [json.loads(text) for texts in definitions([path], [], code).values() for text in texts]
            hashed = {json.dumps(node) for nodes in reached for node in nodes} | set(map(normal, own(code.tree(path))))
            published = set(map(normal, statements(inline(name, code))))
            assert split_imports(published) == split_imports(hashed), name


def normal(text: str) -> str:
    return json.dumps(json.loads(text))


def split_imports(found: set[str]) -> set[str]:
    """Imports of several names as one import a name: a published program has them so, and each once."""
    alone = set()
    for text in found:
        kind, *fields = json.loads(text)
        if kind in ("Import", "ImportFrom"):
            names = dict(fields)["names"]
            for name in names:
                one = [["names", [name]] if field == "names" else [field, said] for field, said in fields]
                alone.add(json.dumps([kind, *one]))
        else:
            alone.add(text)
    return alone


def test_the_benchmarks_carry_the_harness():
    code = Code()
    places = code.followed(code.imports(programs.snippet_path("first_kernel/benchmark")).values())
    modules = {place.path.name for place in places}
    assert {"benchmark.py", "add.py", "arguments.py"} <= modules and "softmax.py" not in modules


# Places


PLUS = "\n\n\ndef plus(x, y):\n    return x + y if check(x) else None\n"
CHECK = "\n\n\ndef check(x):\n    return x < LIMIT\n"
PACKAGED = {
    "kernels/__init__.py": "from kernels.sums import plus\n",
    "kernels/sums/__init__.py": "from kernels.sums.plus import plus\n\n__all__ = ['plus']\n",
    "kernels/sums/plus.py": f"from kernels.common.checks import check{PLUS}",
    "kernels/common/checks.py": f"LIMIT = 3{CHECK}",
    "snippets/tiny/plus.py": "from kernels.sums import plus\n\nprint('plus', plus(1, 2))\n",
}
MOVED = {
    "a file moved into a package": PACKAGED,
    "a function moved to a sibling": PACKAGED
    | {
        "kernels/sums/plus.py": f"from kernels.common.checks import check{PLUS}",
        "kernels/common/checks.py": f"from kernels.common.limits import LIMIT{CHECK}",
        "kernels/common/limits.py": "LIMIT = 3\n",
    },
    "an import reworded": PACKAGED | {"snippets/tiny/plus.py": "from kernels import plus\n\nprint('plus', plus(1, 2))\n"},
    "an import of the module itself": PACKAGED
    | {"snippets/tiny/plus.py": "from kernels.sums.plus import (\n    plus,\n)\n\nprint('plus', plus(1, 2))\n"},
}


@pytest.mark.parametrize("files", MOVED.values(), ids=MOVED)
def test_a_place_does_not_count(tmp_path, files):
    trees.put(tmp_path / "flat", {f"kernels/{name}.py": text for name, text in trees.LIBRARY.items()})
    trees.put(tmp_path / "flat", {"snippets/tiny/plus.py": trees.PROGRAMS["plus"]})
    trees.put(tmp_path / "packaged", files)
    entries = ["snippets/tiny/plus.py"]
    assert digest(entries, Code(tmp_path / "packaged")) == digest(entries, Code(tmp_path / "flat"))


def test_a_text_that_names_a_place_counts_by_its_last_name(tmp_path):
    found = set()
    for module in ("kernels.sums_plus", "kernels.sums.plus"):
        trees.put(tmp_path, {"tests/test_it.py": f"def test_it(patch):\n    patch.setattr('{module}.LIMIT', 4)\n"})
        found.add(digest(["tests/test_it.py"], Code(tmp_path)))
    assert len(found) == 1
    trees.put(tmp_path, {"tests/test_it.py": "def test_it(patch):\n    patch.setattr('kernels.sums.plus.MOST', 4)\n"})
    assert digest(["tests/test_it.py"], Code(tmp_path)) not in found
    labels = []
    for label in ("kernels.sum", "kernels.reductions.sum"):
        trees.put(tmp_path, {"snippets/tiny/say.py": f"print('{label}')\n"})
        labels.append(digest(["snippets/tiny/say.py"], Code(tmp_path)))
    assert labels[0] != labels[1], "what a program prints is no place"


def test_another_name_for_an_import_counts(tree):
    found = set()
    for line in ("from kernels import plus as f, times as g", "from kernels import plus as g, times as f"):
        trees.put(tree, {"tests/kernels/test_it.py": f"{line}\n\n\ndef test_it():\n    assert f(1, 2) == g(1, 3)\n"})
        found.add(digest(["tests/kernels/test_it.py"], Code(tree)))
    assert len(found) == 2


# Beyond the library


def test_helpers_of_scripts_and_tests_count(tree):
    files = {
        "scripts/recording/cases/__init__.py": "def quarters(n):\n    return n / 4\n",
        "scripts/recording/cases/tiny.py": "from scripts.recording.cases import quarters\n\nRUNS = {'one': quarters}\n",
        "tests/kernels/numerics.py": "def close(x):\n    return x < 1\n",
        "tests/kernels/test_plus.py": "from tests.kernels.numerics import close\n\n\ndef test_it():\n    assert close(0)\n",
    }
    trees.put(tree, files)
    helpers = {"scripts/recording/cases/tiny.py": "scripts/recording/cases/__init__.py"}
    for given, helper in (helpers | {"tests/kernels/test_plus.py": "tests/kernels/numerics.py"}).items():
        before = digest([given], Code(tree))
        trees.put(tree, {helper: files[helper].replace("/ 4", "/ 5").replace("< 1", "< 2")})
        assert digest([given], Code(tree)) != before, helper


def test_of_definitions_only_these_and_what_they_reach_count(tree):
    trees.put(tree, {"kernels/tool.py": REACHED})
    before = digest(["kernels/tool.py:helper"], Code(tree))
    assert before != digest(["kernels/tool.py:Tool"], Code(tree))
    trees.put(tree, {"kernels/tool.py": REACHED.replace("json.dumps", "json.loads")})
    assert digest(["kernels/tool.py:helper"], Code(tree)) == before
    trees.put(tree, {"kernels/tool.py": REACHED.replace("x + TABLE", "x - TABLE")})
    assert digest(["kernels/tool.py:helper"], Code(tree)) != before


def test_a_name_taken_from_the_package_counts_for_its_module(tree):
    trees.put(tree, {"snippets/tiny/plus.py": "from kernels import plus\n"})
    code = Code(tree)
    places = code.followed(code.imports(tree / "snippets/tiny/plus.py").values())
    assert sorted({place.path.relative_to(tree).as_posix() for place in places}) == ["kernels/checks.py", "kernels/plus.py"]


def test_an_import_inside_a_function_counts(tree):
    trees.put(tree, {"snippets/tiny/plus.py": "def f():\n    from kernels.times import times\n"})
    assert tree / "kernels/times.py" in {place.path for place in Code(tree).imports(tree / "snippets/tiny/plus.py").values()}


def test_modules_that_import_each_other_end(tree):
    trees.put(tree, {"kernels/checks.py": "from kernels.plus import plus\n\n\ndef check(x):\n    return plus(x, x)\n"})
    assert digest(["kernels/plus.py"], Code(tree))


# What cannot be worked out


REFUSED = {
    "a relative import": ("from . import x\n", r"plus\.py:1: write `from kernels\.<module> import <name>`"),
    "a module that is not there": ("\nfrom kernels.gone import x\n", r"plus\.py:2: there is no module kernels\.gone"),
    "a name that the package lacks": ("from kernels import minus\n", r"plus\.py:1: there is no module kernels\.minus"),
    "a name that a module lacks": ("from kernels.plus import minus\n", r"kernels/plus\.py: defines no minus"),
    "no Python": ("print(\n", r"plus\.py:1: '\(' was never closed"),
}


@pytest.mark.parametrize("text, message", REFUSED.values(), ids=REFUSED)
def test_code_that_cannot_be_followed_is_named_with_its_line(tree, text, message):
    trees.put(tree, {"snippets/tiny/plus.py": text})
    with pytest.raises(CodeError, match=message):
        digest(["snippets/tiny/plus.py"], Code(tree))
    assert not sources.is_fresh({"kind": "program", "name": "tiny/plus", "hash": ""}, Code(tree))


def test_a_name_bound_twice_is_refused_in_a_program(tree):
    trees.put(tree, {"kernels/times.py": "LIMIT = 4\n\n\ndef times(x, y):\n    return x * y * LIMIT\n"})
    trees.put(tree, {"snippets/tiny/plus.py": "from kernels import plus, times\n\nprint(plus, times)\n"})
    with pytest.raises(CodeError, match=r"LIMIT is bound in .*kernels/checks\.py:1 and otherwise in .*kernels/times\.py:1: "):
        digest(["snippets/tiny/plus.py"], Code(tree))


def test_a_record_is_fresh_until_its_code_changes(tree):
    record = trees.record(tree, "tiny/plus")
    assert sources.is_fresh(record, Code(tree))
    (tree / "kernels/checks.py").write_text(trees.LIBRARY["checks"].replace("<", "<="))
    assert not sources.is_fresh(record, Code(tree))


@pytest.mark.parametrize("name", ["tiny/gone", "../pytest", "\0"])
def test_a_record_of_code_that_is_not_here_is_not_fresh(tree, name):
    assert not sources.is_fresh(trees.record(tree, "tiny/plus") | {"name": name}, Code(tree))
