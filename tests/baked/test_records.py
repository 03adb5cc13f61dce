"""Records: what enters the hash of their code, and that they are written whole or not at all."""

import ast
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts.provenance import programs, records
from scripts.provenance.records import RecordError, code_hash
from tests.baked import trees


def hash_of(folder: Path, text: str) -> str:
    trees.put(folder, {"kernels/one.py": text})
    return code_hash(["kernels/one.py"], folder)


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
GOLDEN = "0a3225592632fc19d393944d9021990bad647897bbb65102883b87fc79319afc"
HASH = """
import sys
from pathlib import Path
from scripts.provenance.records import code_hash

print(code_hash(["kernels/one.py"], Path(sys.argv[1])))
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
        except SyntaxError:
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
    before = code_hash(["snippets/tiny/plus.py"], tree)
    with (tree / f"kernels/{module}.py").open("a") as file:
        file.write("print(1)\n")
    assert (code_hash(["snippets/tiny/plus.py"], tree) != before) is counts


REACHED = """
import json
import os as operating
from kernels.checks import check

FIRST, SECOND = 1, 2
TABLE = {"f": FIRST}
if operating.name == "nt":
    LIMIT = 3
else:
    LIMIT = 4

def unused(x):
    return json.dumps(x)

def helper(x):
    return x + TABLE["f"] + LIMIT

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
    "LIMIT = 3": True,
    "LIMIT = 4": True,
    "json.dumps(x)": False,
    "x + TABLE": True,
    "check(x)": True,
    "return helper": True,
    "print(unused": False,
}


@pytest.mark.parametrize("part, counts", COUNTING.items())
def test_of_a_module_counts_what_the_program_reaches(tree, part, counts):
    trees.put(tree, {"kernels/tool.py": REACHED, "snippets/tiny/plus.py": "from kernels.tool import Tool\nTool().use(1)\n"})
    before = code_hash(["snippets/tiny/plus.py"], tree)
    changed = part.replace("import ", "import sys, ") if part.startswith("import") else part.replace("(x)", "(x, 5)")
    changed = part.replace("1, 2", "1, 3").replace("= 3", "= 5").replace("= 4", "= 5") if changed == part else changed
    changed = {'{"f"': '{"g"', "x + TABLE": "x - TABLE", "return helper": "return 2 * helper"}.get(part, changed)
    changed = {"print(unused": "print(2, unused", "import os as operating": "import posix as operating"}.get(part, changed)
    assert REACHED.count(part) == 1 and changed != part
    trees.put(tree, {"kernels/tool.py": REACHED.replace(part, changed)})
    assert (code_hash(["snippets/tiny/plus.py"], tree) != before) is counts


def test_of_a_module_that_is_given_everything_counts(tree):
    trees.put(tree, {"kernels/tool.py": REACHED})
    before = code_hash(["kernels/tool.py"], tree)
    trees.put(tree, {"kernels/tool.py": REACHED.replace("json.dumps", "json.loads")})
    assert code_hash(["kernels/tool.py"], tree) != before


def definitions(text: str) -> set[str]:
    return {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_what_the_hash_follows_is_what_the_published_programs_carry():
    followed = [*(records.ROOT / "kernels").glob("*.py"), *(records.ROOT / "snippets").rglob("*.py")]
    library = set.union(*(definitions(path.read_text()) for path in followed))
    for name in programs.snippet_names():
        path = records.ROOT / "snippets" / f"{name}.py"
        counted = {part for _, part in records.reached([path], records.ROOT)} & library
        assert definitions(programs.inline(name)) - definitions(path.read_text()) == counted, name


def test_a_name_taken_from_the_package_counts_for_its_module(tree):
    trees.put(tree, {"snippets/tiny/plus.py": "from kernels import plus\n"})
    names = [path.relative_to(tree).as_posix() for path in records.closure(["snippets/tiny/plus.py"], tree)]
    assert names == ["kernels/checks.py", "kernels/plus.py", "snippets/tiny/plus.py"]


def test_an_import_inside_a_function_counts(tree):
    trees.put(tree, {"snippets/tiny/plus.py": "def f():\n    from kernels.times import times\n"})
    assert tree / "kernels/times.py" in records.closure(["snippets/tiny/plus.py"], tree)


def test_modules_that_import_each_other_end(tree):
    trees.put(tree, {"kernels/checks.py": "from kernels.plus import plus\n"})
    assert len(records.closure(["kernels/plus.py"], tree)) == 2


def test_the_benchmarks_carry_the_harness():
    modules = {path.name for path in records.closure(["snippets/first_kernel/benchmark.py"])}
    assert {"benchmark.py", "add.py", "arguments.py"} <= modules and "softmax.py" not in modules


UNFOLLOWED = ["import kernels", "import os, kernels.plus as k", "def f():\n    import kernels", "from . import x"]


@pytest.mark.parametrize("line", UNFOLLOWED)
def test_an_import_that_cannot_be_followed_is_refused(tree, line):
    trees.put(tree, {"snippets/tiny/plus.py": f"\n{line}\n"})
    with pytest.raises(RecordError, match=r"plus\.py:[23]: write `from kernels\.<module> import <name>`"):
        code_hash(["snippets/tiny/plus.py"], tree)


def test_a_name_that_the_package_lacks_is_refused(tree):
    trees.put(tree, {"snippets/tiny/plus.py": "from kernels import minus\n"})
    with pytest.raises(RecordError, match="exports no minus"):
        code_hash(["snippets/tiny/plus.py"], tree)


def test_a_record_is_fresh_until_its_code_changes(tree):
    record = trees.record(tree, "tiny/plus")
    assert records.is_fresh(record, tree)
    (tree / "kernels/checks.py").write_text(trees.LIBRARY["checks"].replace("<", "<="))
    assert not records.is_fresh(record, tree)


@pytest.mark.parametrize("code", [["snippets/tiny/gone.py"], ["pytest.ini"], ["/etc/hostname"], 7, [7], ["\0"]])
def test_a_record_of_code_that_is_not_here_is_not_fresh(tree, code):
    trees.put(tree, {"pytest.ini": "[pytest]\n"})
    assert not records.is_fresh(trees.record(tree, "tiny/plus") | {"code": code}, tree)


# Whole or not at all

OLD, NEW = {"old": 1}, {"new": ["µ"] * 100}


@pytest.fixture
def stored(tmp_path) -> Path:
    path = tmp_path / "machine" / "record.json"
    records.write(path, OLD)
    return path


def no_space(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_a_full_disk_leaves_the_old_record_and_nothing_else(stored, monkeypatch, step):
    monkeypatch.setattr(os, step, no_space)
    with pytest.raises(RecordError) as caught:
        records.write(stored, NEW)
    assert str(caught.value) == f"{stored}: could not be written (No space left on device); what stood there before is untouched"
    assert trees.snapshot(stored.parent) == {"record.json": b'{\n "old": 1\n}\n'}


def in_a_process(text: str, path: Path, before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"PYTHONPATH": str(records.ROOT)}
    program = f"import os, sys; from pathlib import Path; from scripts import records; path = Path(sys.argv[1]); {text}"
    command = [sys.executable, "-c", program, str(path)]
    return subprocess.run(command, env=variables, capture_output=True, text=True, preexec_fn=before)


def test_a_disk_that_takes_a_part_leaves_the_old_record_and_nothing_else(stored):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    done = in_a_process("records.write(path, {'new': 'x' * 100_000})", stored, limit)
    assert "RecordError" in done.stderr and f"{stored}: could not be written (File too large)" in done.stderr
    assert trees.snapshot(stored.parent) == {"record.json": b'{\n "old": 1\n}\n'}


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_process_that_dies_before_the_end_leaves_the_old_record(stored, step):
    done = in_a_process(f"os.{step} = lambda *_: os._exit(9); records.write(path, {{'new': 2}})", stored)
    assert done.returncode == 9
    assert json.loads(stored.read_text()) == OLD


def test_what_cannot_be_encoded_leaves_the_old_record_and_nothing_else(stored):
    with pytest.raises(UnicodeEncodeError):
        records.write(stored, {"new": "\ud800"})
    assert trees.snapshot(stored.parent) == {"record.json": b'{\n "old": 1\n}\n'}


def test_a_place_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match=r"file/record\.json: could not be written"):
        records.write(tmp_path / "file" / "record.json", NEW)


def test_a_record_can_be_read_by_everyone(stored):
    assert stored.stat().st_mode & 0o777 == 0o644


WRITER = """
import sys
from pathlib import Path
from scripts import programs, records

number = 0
while True:
    number += 1
    head = {"schema": 1, "kind": "program", "name": sys.argv[2], "code": [], "hash": "", "environment": {}}
    records.write(Path(sys.argv[1]), head | {"lines": [number] * 20_000, "last": number})
"""


def test_no_reader_sees_a_half_whenever_the_writer_is_killed(tmp_path):
    path = tmp_path / "machine" / "record.json"
    for turn in ("1", "2", "3", "4", "5", "6"):
        command = [sys.executable, "-c", WRITER, str(path), turn]
        writer = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(records.ROOT)})
        seen: set[int] = set()
        while len(seen) < 5 + int(turn):
            assert writer.poll() is None
            if path.exists():
                found = records.read(path)
                assert found["lines"] == [found["last"]] * 20_000
                seen |= {found["last"]} if found["name"] == turn else set()
        time.sleep(0.0013 * int(turn))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        ((left, record),) = records.all_records("machine", tmp_path)
        assert left == path and record["lines"] == [record["last"]] * 20_000


# Bad input

HEAD = {"schema": 1, "kind": "program", "name": "x", "code": [], "hash": "", "environment": {}}
CORRUPT = {
    "nothing": (b"", "not a readable record"),
    "a half": (json.dumps(HEAD).encode()[:-9], "not a readable record"),
    "another encoding": ('{"µ": 1}'.encode("latin-1"), "not a readable record"),
    "a list": (b"[]", "lacks schema, kind, name, code, hash, environment"),
    "a number": (b"7", "lacks schema"),
    **{f"no {field}": (json.dumps({**HEAD, field: None}).encode(), f"lacks {field}") for field in HEAD},
    "a field of another type": (json.dumps(HEAD | {"environment": "cpu"}).encode(), "lacks environment"),
    "a newer schema": (json.dumps(HEAD | {"schema": 2}).encode(), "schema 2"),
    "another kind": (json.dumps(HEAD | {"kind": "poem"}).encode(), "kind 'poem'"),
}


@pytest.mark.parametrize("data, message", CORRUPT.values(), ids=CORRUPT)
def test_a_corrupt_record_is_named(tmp_path, data, message):
    path = tmp_path / "cpu" / "record.json"
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(RecordError, match=message) as caught:
        list(records.all_records("cpu", tmp_path))
    assert str(caught.value).startswith(f"{path}: ")


def test_a_record_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RecordError, match=r"gone\.json: there is no such record"):
        records.read(tmp_path / "gone.json")
    with pytest.raises(RecordError, match="not a readable record"):
        records.read(tmp_path)


def test_charts_are_no_records(tmp_path):
    trees.put(tmp_path, {"cpu/charts/one.json": "{}", "cpu/record.json": json.dumps(HEAD)})
    assert [path.name for path, _ in records.all_records("cpu", tmp_path)] == ["record.json"]
