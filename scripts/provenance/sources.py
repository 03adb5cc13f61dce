"""What each kind of record comes from, and whether it is of today's code. The standard library alone.

`entries` is the one place that knows which code makes a record: whole files, and definitions as `file:name`, both of which the
digest follows into all that they reach.
"""

import ast
import re
from typing import Any

from scripts import ROOT
from scripts.launches import SPECIMENS
from scripts.provenance import records
from scripts.provenance.digest import digest
from scripts.provenance.follow import Code, CodeError, Place

PACKAGE = "kernels/__init__.py"
COMPILER = "scripts/compile.py:measured"
TEXT = "scripts/compile.py:text"
LENS = "scripts/reading/made.py:made"
BY_VERSION, SPEAKER = "scripts/recording/by_version.py:taken", "scripts/recording/printed.py"
RECORDER = "scripts/recording/recorder.py:record"
CASES = "scripts/recording/cases"
HEARER = "scripts/recording/refusals.py"
JUDGE, STAND_IN = "scripts/recording/verdicts.py", "scripts/recording/stand_in_run.py"
MUTATOR = "scripts/mutation/mutants.py:mutants"
TESTS = "tests/kernels"
# What runs programs in a page: its own part, and what of Python's and PyTorch's it stands in for.
RUNTIME = ("runtime/*.py", "runtime/standins/**/*.py")
NOT_IN_THE_PAGE = ("build.py", "measure.py", "pack.py")
# The capstone's parts and the tests of its archive.
FINISHED = ("snippets/capstone/*.py", "scripts/pages/templates/capstone/**/*.py")
# What runs around every test of a kernel without being imported by it.
AROUND_TESTS = "tests/interpreter.py"


def entries(kind: str, name: str, code: Code | None = None) -> list[str]:
    """The code that a record of this kind and name comes from."""
    match kind:
        case "program":
            return [f"snippets/{name}.py"]
        case "lab":
            return [f"docs/labs/{name}.py"]
        case "finished":
            root = (code or Code()).root
            return [path.relative_to(root).as_posix() for pattern in FINISHED for path in sorted(root.glob(pattern))]
        case "compiled":
            launched = [specimen for specimen in SPECIMENS if specimen.function == name]
            if not launched:
                raise CodeError(f"no kernel {name} is compiled")
            launchers = {f"{specimen.path}:{specimen.launcher}" for specimen in launched if specimen.launcher}
            return [*{specimen.kernel: None for specimen in launched}, *sorted(launchers), COMPILER]
        case "lens":
            return [*entries("compiled", name, code)[:-1], LENS]
        case "versions":
            return [*entries("compiled", name, code)[:-1], BY_VERSION]
        case "printed":
            return [f"snippets/{name}.py", SPEAKER]
        case "layout":
            launched = [specimen for specimen in SPECIMENS if specimen.name == name]
            if not launched:
                raise CodeError(f"no launch {name} is compiled")
            only = launched[0]
            return [only.kernel, *([f"{only.path}:{only.launcher}"] if only.launcher else []), TEXT, COMPILER]
        case "trace":
            return [RECORDER, f"{CASES}/{name.partition('/')[0]}.py"]
        case "messages":
            return [f"snippets/errors/{name}.py", HEARER]
        case "gallery":
            return [f"snippets/gallery/{name}.py", JUDGE, STAND_IN]
        case "matrix":
            return [f"{PACKAGE}:{name.partition('/')[2]}", COMPILER]
        case "gate":
            function = name.removeprefix("test_")
            spoken_for = [f"{PACKAGE}:{function}"] if function in public_functions(code) else []
            around = [path for path in (f"{TESTS}/conftest.py", AROUND_TESTS) if ((code or Code()).root / path).exists()]
            return [f"{TESTS}/{name}.py", *spoken_for, *around]
        case "mutants":
            kernels = gluon_files(name, code) or [f"{PACKAGE}:{name}"]
            return [*kernels, *tests_of(name, code), AROUND_TESTS, MUTATOR]
        case "runtime":
            root = (code or Code()).root
            files = sorted(path for pattern in RUNTIME for path in root.glob(pattern) if path.name not in NOT_IN_THE_PAGE)
            return [path.relative_to(root).as_posix() for path in files]
    raise CodeError(f"no record is of the kind {kind!r}")


def digest_of(kind: str, name: str, code: Code | None = None) -> str:
    """The digest that a record of today's code carries."""
    code = code or Code()
    return digest(entries(kind, name, code), code)


def is_fresh(record: dict[str, Any], code: Code | None = None) -> bool:
    """Whether the code that made the record is the code of this checkout."""
    try:
        return digest_of(record["kind"], record["name"], code) == record["hash"]
    except CodeError:
        return False


def is_kept(machine: str, kind: str, name: str, code: Code | None = None) -> bool:
    """Whether a machine has a readable record of today's code."""
    try:
        return is_fresh(records.read(records.record_path(machine, kind, name)), code)
    except records.RecordError:
        return False


def reached_by(function: str, code: Code) -> set[Place]:
    """Every definition that a public function reaches."""
    return set(code.followed([public_source(function, code)]))


def public_functions(code: Code | None = None) -> list[str]:
    """The library's public functions: each stands in a module of its own name, and the package passes it on."""
    code = code or Code()
    path = code.root / PACKAGE
    if not path.exists():
        return []
    return sorted(name for name in code.imports(path) if public_source(name, code).path.stem == name)


def public_source(name: str, code: Code) -> Place:
    """Where a function that the package passes on is defined."""
    return code.source(code.root / PACKAGE, name)


def tests_of(function: str, code: Code | None = None) -> list[str]:
    """The files of tests of a public function: its own, or those that import it."""
    code = code or Code()
    folder = code.root / TESTS
    own = folder / f"test_{function}.py"
    imported = re.compile(rf"^from kernels[\w.]* import .*\b{function}\b", re.MULTILINE)
    files = [own] if own.exists() else [file for file in sorted(folder.glob("test_*.py")) if imported.search(file.read_text())]
    return [file.relative_to(code.root).as_posix() for file in files if file.stem not in ("test_compiles", "test_public")]


def gluon_modules(code: Code | None = None) -> list[str]:
    """The operations with kernels in Gluon, as gluon_files and their tests call them."""
    root = (code or Code()).root
    return sorted({f"{path.parent.name}_gluon" for path in root.glob("kernels/*/gluon*.py")})


def gluon_files(name: str, code: Code | None = None) -> list[str]:
    """The kernels in Gluon that tests of this name run, as matmul_gluon; none, if the name is an operation's."""
    root = (code or Code()).root
    operation, is_gluon, _ = name.partition("_gluon")
    files = sorted((root / "kernels" / operation).glob("gluon*.py")) if is_gluon else []
    return [path.relative_to(root).as_posix() for path in files]


def recorded_runs() -> list[str]:
    """Every recorded run, as `<chapter>/<name>`: the keys of each chapter's RUNS."""
    found = []
    for path in sorted((ROOT / CASES).glob("[a-z]*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id="RUNS")], value=ast.Dict(keys=keys))
                    | ast.AnnAssign(target=ast.Name(id="RUNS"), value=ast.Dict(keys=keys))
                ):
                    found += [f"{path.stem}/{ast.literal_eval(key)}" for key in keys if key]
    return found
