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

from scripts import charts, mutate, prepare
from scripts.provenance import programs, records, sources
from scripts.provenance.digest import definitions
from scripts.provenance.environment import primary_machine, several_machine
from scripts.provenance.follow import Code
from scripts.provenance.inline import inline
from tests import turns
from tests.docs import pages
from tests.records import freshness

PRIMARY = primary_machine()
SEVERAL = several_machine()
MACHINES = (PRIMARY, SEVERAL, "cpu")


@pytest.mark.parametrize("machine", MACHINES)
def test_every_record_is_there_and_of_this_code(machine):
    problems = freshness.problems(machine, freshness.wanted(machine))
    expected = {name for name in freshness.pending() if name.startswith(f"{machine}/")}
    waiting = {line: freshness.waiting(line.partition(": ")[0]) for line in problems}
    assert expected == set().union(*waiting.values()), "no longer pending"
    problems = [line for line in problems if not waiting[line]]
    assert not problems, "\n".join(["", *problems])


def test_pending_records_are_few_and_have_their_reasons():
    assert len(freshness.pending()) <= 12 and all(len(reason.split()) >= 8 for reason in freshness.pending().values())


def test_no_record_holds_a_path_of_the_machine_that_made_it():
    local = re.compile(rf"{re.escape(str(records.ROOT))}|/(?:home|root|tmp)/|(?<!…)/[^ \"']*/site-packages/")
    files = [path for path in records.BAKED.rglob("*.json") if local.search(path.read_text(encoding="utf-8"))]
    assert files == []


def test_stale_records_of_other_gpus_are_listed():
    for line in freshness.stale_elsewhere():
        warnings.warn(line, stacklevel=1)


def test_every_program_kernel_and_traced_run_is_wanted():
    gpu, cpu = freshness.wanted(PRIMARY), freshness.wanted("cpu")
    programs = {path.relative_to(records.ROOT / "snippets").with_suffix("").as_posix(): path for path in snippets()}
    together = {name for name, path in programs.items() if "# needs: 2 gpus\n" in path.read_text(encoding="utf-8")}
    assert together and together == freshness.wanted(SEVERAL).keys()
    assert programs.keys() - together == {name for name in gpu if name in programs}
    anywhere = {name for name, path in programs.items() if "# needs: " not in path.read_text(encoding="utf-8")}
    assert anywhere == {name for name in cpu if name in programs}
    compiled = {name for name in gpu if name.startswith("compiled/")}
    assert len(compiled) >= 13 and compiled == {name for name in cpu if name.startswith("compiled/")}
    labs = {f"labs/{path.stem}" for path in (records.ROOT / "docs/labs").glob("*.py")}
    assert len(labs) >= 4 and labs <= cpu.keys()
    noticed = {f"noticed/{path.stem}" for path in (records.ROOT / "snippets/gallery").glob("*.py")}
    mutants = {f"mutants/{module}" for module in mutate.GLUON}
    finished = {"finished/capstone"}
    assert gpu.keys() == programs.keys() - together | compiled | labs | noticed | mutants | finished
    rest = cpu.keys() - anywhere - compiled - labs - finished
    kinds = {"layouts", "traces", "matrix", "mutants", "runtime", "messages", "noticed", "by_version", "printed"}
    assert {name.partition("/")[0] for name in rest} == kinds


def snippets() -> list[Path]:
    return [path for path in (records.ROOT / "snippets").rglob("*.py") if path.name != "__init__.py"]


# Captions


@pytest.fixture(scope="module")
def prepared() -> None:
    pages.prepare()


MEASURED = [name for name, (_, sources) in charts.CHARTS.items() if not any(freshness.waiting(f"{PRIMARY}/{s}") for s in sources)]


@pytest.mark.parametrize("name", MEASURED)
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

# Each of these asks all records anew, of what the digest is made of. While that is as it was, one in three is asked, by turns.
DIGEST = [path.relative_to(records.ROOT).as_posix() for path in (records.ROOT / "scripts/provenance").glob("*.py")]
DIGEST.append("tests/records/freshness.py")
ROOMS = ("kernels", "snippets", "scripts", "tests", "docs/labs", "runtime")


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """The code of this checkout, with a record of it for everything that is wanted."""
    folder = tmp_path_factory.mktemp("template")
    for room in ROOMS:
        shutil.copytree(records.ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    code = Code()
    for machine in MACHINES:
        for place, (kind, name) in freshness.wanted(machine).items():
            lay(folder, machine, place, kind, name, code)
    return folder


@pytest.fixture
def copy(tmp_path, template) -> Path:
    return shutil.copytree(template, tmp_path / "copy")


def lay(root: Path, machine: str, place: str, kind: str, name: str, code: Code, **fields: Any) -> None:
    environment = {"machine": machine, "measured_at": "2000-01-02T00:00:00Z"}
    head = {"schema": records.SCHEMA, "kind": kind, "name": name, "hash": sources.digest_of(kind, name, code)}
    records.write(root / "baked" / machine / f"{place}.json", head | {"environment": environment} | fields)


def found(root: Path) -> list[str]:
    baked = root / "baked"
    return [line for machine in MACHINES for line in freshness.problems(machine, freshness.wanted(machine), root, baked)]


def stale(root: Path) -> set[str]:
    """The names of the records that are found to be older than their code, and nothing else is found."""
    lines = found(root)
    assert all(re.search(": older than its code; renew it with (python scripts|.*runtime)/", line) for line in lines), lines
    return {line.partition(":")[0] for line in lines}


def users(root: Path, definition: str) -> set[str]:
    """The records whose code reaches a definition: of programs, those in whose published text it stands."""
    expected, published, code = set(), {}, Code(root)
    for name in programs.snippet_names():
        body = ast.parse(inline(name, code)).body
        published[name] = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for machine in MACHINES:
        for place, (kind, name) in freshness.wanted(machine).items():
            if kind == "program":
                reaches = definition in published[name]
            else:
                whole, roots = code.parted(sources.entries(kind, name, code))
                reaches = definition in definitions(whole, roots, code)
            expected |= {f"{machine}/{place}"} if reaches else set()
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


def reword(root: Path, file: str, old: str, new: str) -> None:
    text = (root / file).read_text(encoding="utf-8")
    assert old in text
    (root / file).write_text(text.replace(old, new), encoding="utf-8")


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


CHANGED = ["kernels/add.py", "kernels/softmax/long.py", "kernels/tools/benchmark.py"]


@pytest.mark.parametrize("file", turns.part(CHANGED, 3, *DIGEST))
def test_a_changed_operator_makes_stale_what_uses_it_and_nothing_else(copy, file):
    expected = users(copy, turn_an_operator(copy / file))
    assert stale(copy) == expected
    assert f"{PRIMARY}/fused_softmax/benchmark" in expected or file == "kernels/add.py"
    assert f"{PRIMARY}/first_kernel/owners" not in expected
    assert f"{PRIMARY}/fused_softmax/launch" not in expected  # its own kernel lies beside one of those changed


@turns.taken(3, *DIGEST)
def test_a_changed_launcher_makes_the_figures_of_its_kernel_stale(copy):
    reword(copy, "kernels/softmax/softmax.py", "2 if block <= 1024 else 4 if block <= 4096", "4 if block <= 4096")
    expected = users(copy, "softmax_row")
    assert stale(copy) == expected and {"cpu/compiled/softmax_kernel", f"{PRIMARY}/compiled/softmax_kernel"} <= expected
    assert f"{PRIMARY}/compiled/softmax_long_kernel" not in expected


@turns.taken(3, *DIGEST)
def test_a_changed_input_of_recordings_makes_them_stale_and_nothing_else(copy):
    reword(copy, "scripts/recording/cases/__init__.py", "manual_seed(0)", "manual_seed(1)")
    assert stale(copy) == users(copy, "quarters") == {f"cpu/traces/{name}" for name in sources.recorded_runs()} - OWN_INPUTS


# Recorded on numbers that their chapter makes itself.
OWN_INPUTS = {"cpu/traces/softmax_ladder/online", "cpu/traces/attention/one_query", "cpu/traces/debugging/small"}


@turns.taken(3, *DIGEST)
def test_a_changed_helper_of_tests_makes_the_scores_that_lean_on_it_stale(copy):
    reword(copy, "tests/kernels/matmul_numerics.py", "TF32_STEP = ", "TF32_STEP = 2 * ")
    found_stale = stale(copy)
    assert "cpu/mutants/matmul" in found_stale and all(name.startswith("cpu/mutants/") for name in found_stale)
    assert "cpu/mutants/softmax" not in found_stale


MOVES = [f"kernels/{name}.py" for name in ("softmax/long", "matmul/plan", "common/sizes", "norm/partials", "add")]


@turns.taken(3, *DIGEST)
def test_moved_files_make_nothing_stale(copy):
    """Five files of the library go to other places, with the imports of them mended."""
    for number, file in enumerate(MOVES):
        old = file.removesuffix(".py").replace("/", ".")
        new = f"kernels.elsewhere.room_{number}.{old.rpartition('.')[2]}"
        target = copy / f"{new.replace('.', '/')}.py"
        target.parent.mkdir(parents=True)
        (copy / file).rename(target)
        for path in [path for room in ROOMS for path in (copy / room).rglob("*.py")]:
            text = path.read_text(encoding="utf-8")
            mended = re.sub(rf"^(\s*from ){re.escape(old)}( import )", rf"\g<1>{new}\g<2>", text, flags=re.MULTILINE)
            if mended != text:
                path.write_text(mended, encoding="utf-8")
    listed = [f"{folder}/{kernel}:" for folder in ("compiled", "by_version") for kernel in LISTED]
    assert {line for line in found(copy) if not any(name in line for name in listed)} == set()


# Where these lie is also said by the list of launches, which this test leaves as it is.
LISTED = ("add_kernel", "add_ragged_kernel", "softmax_long_kernel", "softmax_long_backward_kernel", "norm_partials_kernel")


@turns.taken(3, *DIGEST)
def test_a_function_given_to_a_sibling_makes_nothing_stale(copy):
    text = (copy / "kernels/softmax/rows.py").read_text(encoding="utf-8")
    start = text.index("def restore_shape")
    (copy / "kernels/softmax/shapes.py").write_text(f'"""Shapes."""\n\nimport torch\n\n\n{text[start:]}', encoding="utf-8")
    (copy / "kernels/softmax/rows.py").write_text(text[:start], encoding="utf-8")
    both = "from kernels.softmax.rows import restore_shape, rows_of\n"
    parted = "from kernels.softmax.rows import rows_of\nfrom kernels.softmax.shapes import restore_shape\n"
    reword(copy, "kernels/softmax/softmax.py", both, parted)
    assert found(copy) == []


@turns.taken(3, *DIGEST)
def test_a_reworded_import_makes_nothing_stale(copy):
    file = "snippets/fused_softmax/benchmark.py"
    reword(copy, file, "from kernels.softmax import softmax", "from kernels import softmax")
    assert found(copy) == []


def test_a_changed_program_makes_its_own_records_stale(copy):
    with (copy / "snippets/hardware/least.py").open("a", encoding="utf-8") as file:
        file.write("print()\n")
    assert stale(copy) == {f"{PRIMARY}/hardware/least", "cpu/hardware/least"}


@turns.taken(3, *DIGEST)
def test_changed_words_make_nothing_stale(copy):
    for file in [*(copy / "kernels").rglob("*.py"), *(copy / "snippets").rglob("*.py"), copy / "scripts/compile.py"]:
        change_words(file)
    assert found(copy) == []


def test_each_kind_of_record_is_renewed_by_its_own_command(copy):
    turn_an_operator(copy / "kernels/add.py")
    turn_an_operator(copy / "snippets/first_kernel/launch.py")
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
    lay(copy, "cpu", "first_kernel/gone", "program", "first_kernel/launch", Code())
    assert found(copy) == [
        f"{PRIMARY}/first_kernel/launch: there is no record; make it with "
        f"python scripts/bake.py --only 'first_kernel/launch' on a CUDA machine ({PRIMARY})",
        "cpu/traces/first_kernel/add: there is no record; make it with "
        "python scripts/bake.py --cpu --only 'traces/first_kernel/add'",
        "cpu/first_kernel/gone: nothing makes this record any more; delete it",
    ]


def test_a_record_in_another_s_place_is_found(copy):
    lay(copy, "cpu", "first_kernel/launch", "program", "first_kernel/call", Code())
    lay(copy, PRIMARY, "first_kernel/launch", "program", "first_kernel/launch", Code(), environment={"machine": "cpu"})
    assert found(copy) == [
        f"{PRIMARY}/first_kernel/launch: says that it is program first_kernel/launch of cpu",
        "cpu/first_kernel/launch: says that it is program first_kernel/call of cpu",
    ]


def test_another_gpu_may_be_stale_and_is_listed(copy):
    for number, name in enumerate(("add_kernel", "softmax_kernel", "softmax_long_kernel"), 3):
        made = {"environment": {"machine": "other-gpu", "measured_at": f"2000-01-0{number}T00:00:00Z"}}
        lay(copy, "other-gpu", f"compiled/{name}", "compiled", name, Code(), **made)
    assert freshness.stale_elsewhere(copy, copy / "baked") == []
    reword(copy, "kernels/softmax/long.py", "tl.exp(", "tl.exp2(")
    counts = "1 of 3 records are older than their code, the last of 2000-01-05"
    listed = [f"other-gpu: {counts}; renew them with python scripts/bake.py on that GPU"]
    assert freshness.stale_elsewhere(copy, copy / "baked") == listed
