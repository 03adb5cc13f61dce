"""Fresh or red: no published result is older than its code, none is missing, and none is left over."""

import ast
import io
import re
import shutil
import tokenize
import warnings
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from scripts import charts, prepare
from scripts.provenance import programs, records
from tests.docs import pages
from tests.records import freshness

PRIMARY = prepare.primary_machine()
MACHINES = (PRIMARY, "cpu")


@pytest.mark.parametrize("machine", MACHINES)
def test_every_record_is_there_and_of_this_code(machine):
    problems = freshness.problems(machine, freshness.wanted(machine))
    expected = {name for name in pending() if name.startswith(f"{machine}/")}
    assert expected == {name for name in expected if any(line.startswith(f"{name}: ") for line in problems)}, "no longer pending"
    problems = [line for line in problems if line.partition(": ")[0] not in expected]
    assert not problems, "\n".join(["", *problems])


def pending() -> dict[str, str]:
    """What has no record of today's code, and why; a name that has one again must go from the list."""
    lines = (records.ROOT / "tests/records/pending.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" | ", 1) for line in lines if not line.startswith("#"))


def test_pending_records_are_few_and_have_their_reasons():
    assert len(pending()) <= 3 and all(len(reason.split()) >= 8 for reason in pending().values())


def test_stale_records_of_other_gpus_are_listed():
    for line in freshness.stale_elsewhere():
        warnings.warn(line, stacklevel=1)


def test_every_program_kernel_and_traced_run_is_wanted():
    gpu, cpu = freshness.wanted(PRIMARY), freshness.wanted("cpu")
    programs = {path.relative_to(records.ROOT / "snippets").with_suffix("").as_posix(): path for path in snippets()}
    assert programs.keys() == {name for name in gpu if name in programs}
    anywhere = {name for name, path in programs.items() if "# needs: " not in path.read_text(encoding="utf-8")}
    assert anywhere == {name for name in cpu if name in programs}
    compiled = {name for name in gpu if name.startswith("compiled/")}
    assert len(compiled) >= 13 and compiled == {name for name in cpu if name.startswith("compiled/")}
    labs = {f"labs/{path.stem}" for path in (records.ROOT / "docs/labs").glob("*.py")}
    assert len(labs) >= 4 and labs <= cpu.keys()
    assert gpu.keys() == programs.keys() | compiled | labs
    rest = cpu.keys() - anywhere - compiled - labs
    assert {name.partition("/")[0] for name in rest} == {"traces", "matrix", "mutants"}


def snippets() -> list[Path]:
    return [path for path in (records.ROOT / "snippets").rglob("*.py") if path.name != "__init__.py"]


# Captions


@pytest.fixture(scope="module")
def prepared() -> None:
    pages.prepare()


@pytest.mark.parametrize("name", charts.CHARTS)
def test_a_chart_s_caption_names_gpu_versions_and_date(prepared, name):
    text = (prepare.DOCS / "generated" / "charts" / f"{name}.html").read_text(encoding="utf-8")
    (caption,) = re.findall(r"<figcaption>(.*)</figcaption>", text)
    for source in charts.CHARTS[name][1]:
        environment = records.read(records.record_path(PRIMARY, "program", source))["environment"]
        date, time = environment["measured_at"].split("T")
        shown = [f"an {environment['gpu']},", f"driver {environment['driver']},", f"CUDA {environment['cuda']},"]
        shown += [f"torch {environment['torch']},", f"Triton {environment['triton']},", date]
        assert [part for part in shown if part not in unescape(caption)] == []
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", date) and time.endswith("Z")


# Planted


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """The code of this checkout, with a record of it for everything that is wanted."""
    folder = tmp_path_factory.mktemp("template")
    for room in ("kernels", "snippets", "scripts", "tests", "docs/labs"):
        shutil.copytree(records.ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    for machine in MACHINES:
        for name, code in freshness.wanted(machine).items():
            lay(folder, machine, name, code)
    return folder


@pytest.fixture
def copy(tmp_path, template) -> Path:
    return shutil.copytree(template, tmp_path / "copy")


def lay(root: Path, machine: str, place: str, code: list[str], **fields: Any) -> None:
    folder, _, rest = place.partition("/")
    kinds = {"compiled": "compiled", "traces": "trace", "labs": "lab", "matrix": "matrix", "mutants": "mutants"}
    kind = kinds.get(folder, "program")
    head = {"schema": records.SCHEMA, "kind": kind, "name": place if kind == "program" else rest, "code": code}
    environment = {"machine": machine, "measured_at": "2000-01-02T00:00:00Z"}
    record = head | {"hash": records.code_hash(code, root), "environment": environment} | fields
    records.write(root / "baked" / machine / f"{place}.json", record)


def found(root: Path) -> list[str]:
    baked = root / "baked"
    return [line for machine in MACHINES for line in freshness.problems(machine, freshness.wanted(machine), root, baked)]


def stale(root: Path) -> set[str]:
    """The names of the records that are found to be older than their code, and nothing else is found."""
    lines = found(root)
    assert all(": older than its code; renew it with python scripts/" in line for line in lines)
    return {line.partition(":")[0] for line in lines}


def users(root: Path, file: str, definition: str) -> set[str]:
    """The records whose code reaches a definition of a file: of programs, those in whose published text it stands."""
    expected, published = set(), {}
    for name in programs.snippet_names():
        body = ast.parse(programs.inline(name, root)).body
        published[name] = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for machine in MACHINES:
        for name, code in freshness.wanted(machine).items():
            if name in published:
                reaches = definition in published[name]
            else:
                reaches = file in code or (file, definition) in records.reached([root / path for path in code], root)
            expected |= {f"{machine}/{name}"} if reaches else set()
    return expected


def turn_an_operator(file: Path) -> str:
    """Turn the file's first + into -, or the first other operator of two numbers into +, and name the definition it is in."""
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    functions = [top for top in tree.body if isinstance(top, ast.FunctionDef | ast.ClassDef)]
    name, node = next((top.name, node) for top in functions for node in ast.walk(top) if isinstance(node, ast.BinOp))
    node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    lines = text.splitlines(keepends=True)
    assert node.lineno == node.end_lineno and text.isascii()
    line = lines[node.lineno - 1]
    lines[node.lineno - 1] = line[: node.col_offset] + ast.unparse(node) + line[node.end_col_offset :]
    file.write_text("".join(lines), encoding="utf-8")
    return name


def change_words(file: Path) -> None:
    """Write other docstrings, and comments wherever they may stand."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not re.match("# (--8<--|needs|counters)", token.string):
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column] + "# Other words.\n"
    tree = ast.parse(text)
    for node in tree.body[1:]:
        lines[node.lineno - 1] = "# A remark.\n" + lines[node.lineno - 1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            first, last = node.body[0].lineno - 1, node.body[0].end_lineno
            lines[first:last] = [" " * node.body[0].col_offset + '"""Other words."""\n', *[""] * (last - first - 1)]
    text = "".join(lines)
    assert text != file.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")


def test_what_was_just_baked_is_fresh(copy):
    assert found(copy) == []


@pytest.mark.parametrize("file", ["kernels/add.py", "kernels/softmax/long.py", "kernels/tools/benchmark.py"])
def test_a_changed_operator_makes_stale_what_uses_it_and_nothing_else(copy, file):
    expected = users(copy, file, turn_an_operator(copy / file))
    assert stale(copy) == expected
    assert f"{PRIMARY}/fused_softmax/benchmark" in expected or file == "kernels/add.py"
    assert f"{PRIMARY}/first_kernel/owners" not in expected
    assert f"{PRIMARY}/fused_softmax/launch" not in expected  # its own kernel lies beside one of those changed


def test_a_changed_program_makes_its_own_records_stale(copy):
    with (copy / "snippets/first_kernel/launch.py").open("a", encoding="utf-8") as file:
        file.write("print()\n")
    assert stale(copy) == {f"{PRIMARY}/first_kernel/launch", "cpu/first_kernel/launch"}


def test_changed_words_make_nothing_stale(copy):
    for file in [*(copy / "kernels").glob("*.py"), *(copy / "snippets").rglob("*.py"), copy / "scripts/compile.py"]:
        change_words(file)
    assert found(copy) == []


def test_each_kind_of_record_is_renewed_by_its_own_command(copy):
    turn_an_operator(copy / "kernels/add.py")
    older = "older than its code; renew it with python scripts"
    lines = [
        f"{PRIMARY}/first_kernel/benchmark: {older}/bake.py --only 'first_kernel/benchmark' on a CUDA machine ({PRIMARY})",
        f"{PRIMARY}/compiled/add_kernel: {older}/bake.py --only 'compiled/add_kernel' on a CUDA machine ({PRIMARY})",
        f"cpu/first_kernel/launch: {older}/bake.py --cpu --only 'first_kernel/launch'",
        f"cpu/traces/first_kernel/add: {older}/bake.py --cpu --only 'traces/first_kernel/add'",
        f"cpu/matrix/3.6.0/add: {older}/matrix.py 3.6.0/add",
    ]
    assert set(lines) <= set(found(copy))


def test_a_record_that_is_missing_or_left_over_is_found(copy):
    (copy / "baked" / PRIMARY / "first_kernel/launch.json").unlink()
    (copy / "baked/cpu/traces/first_kernel/add.json").unlink()
    lay(copy, "cpu", "first_kernel/gone", [])
    assert found(copy) == [
        f"{PRIMARY}/first_kernel/launch: there is no record; make it with "
        f"python scripts/bake.py --only 'first_kernel/launch' on a CUDA machine ({PRIMARY})",
        "cpu/traces/first_kernel/add: there is no record; make it with "
        "python scripts/bake.py --cpu --only 'traces/first_kernel/add'",
        "cpu/first_kernel/gone: nothing makes this record any more; delete it",
    ]


def test_a_record_of_other_files_than_today_s_is_stale(copy):
    lay(copy, "cpu", "first_kernel/launch", [])
    assert stale(copy) == {"cpu/first_kernel/launch"}


def test_a_record_in_another_s_place_is_found(copy):
    code = ["snippets/first_kernel/launch.py"]
    lay(copy, "cpu", "first_kernel/launch", code, name="first_kernel/call")
    lay(copy, PRIMARY, "first_kernel/launch", code, environment={"machine": "cpu"})
    assert found(copy) == [
        f"{PRIMARY}/first_kernel/launch: says that it is program first_kernel/launch of cpu",
        "cpu/first_kernel/launch: says that it is program first_kernel/call of cpu",
    ]


def test_another_gpu_may_be_stale_and_is_listed(copy):
    for number, name in enumerate(("add", "softmax", "softmax_long"), 3):
        made = {"environment": {"machine": "other-gpu", "measured_at": f"2000-01-0{number}T00:00:00Z"}}
        lay(copy, "other-gpu", f"compiled/{name}", [f"kernels/{name}.py"], **made)
    assert freshness.stale_elsewhere(copy, copy / "baked") == []
    turn_an_operator(copy / "kernels/softmax/long.py")
    counts = "2 of 3 records are older than their code, the last of 2000-01-05"
    listed = [f"other-gpu: {counts}; renew them with python scripts/bake.py on that GPU"]
    assert freshness.stale_elsewhere(copy, copy / "baked") == listed
