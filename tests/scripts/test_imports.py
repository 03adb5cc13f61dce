"""Imports run one way: from what builds on a thing to the thing itself, and never round in a circle.

What counts is the file that defines the imported name, whichever package passes it on, and an import inside a function counts as
one at the top. Every rule is also shown to fail, on small trees that break it.
"""

import ast
from pathlib import Path

import pytest

from scripts import ROOT
from scripts.provenance.follow import PROJECT, Code, project_imports
from tests.scripts import trees

# The files that each file takes something from, all as paths below the root.
Graph = dict[str, set[str]]

PAGES_ON_NUMBERS = ("scripts/pages/formats.py", "scripts/pages/drawn.py", "scripts/pages/peers.py")
ROOT_ITSELF = "scripts/__init__.py"  # where the checkout lies
# What each room may import beside itself: folders, or files. A command at the top of scripts/ may import all of scripts/.
ALLOWED = {
    "kernels": (),
    "snippets": ("kernels",),
    "scripts/launches": (ROOT_ITSELF,),
    "scripts/provenance": (ROOT_ITSELF, "scripts/launches"),
    "scripts/layouts": (),
    "scripts/mutation": (ROOT_ITSELF, "scripts/provenance"),
    "scripts/recording": (
        ROOT_ITSELF, "scripts/provenance", "scripts/launches", "scripts/compile.py", "kernels", "snippets",
    ),  # fmt: skip
    # A claim's sentences write their numbers as the pages do.
    "scripts/claims": (ROOT_ITSELF, "scripts/provenance", "scripts/pages/formats.py"),
    "scripts/pages": (ROOT_ITSELF, "scripts/provenance", "scripts/claims", "scripts/reading/text.py"),
    "scripts/reading": (ROOT_ITSELF, "scripts/launches", "scripts/layouts", "scripts/compile.py"),
    # Numbers in a chart are written as the pages write them, and what counts as level is said once.
    "scripts/drawing": (ROOT_ITSELF, "scripts/provenance", *PAGES_ON_NUMBERS, "scripts/layouts"),
    # The compiler is a command that rooms use too: the digest of every compiled record holds the line that lets it run as a file.
    "scripts/baking": (ROOT_ITSELF, "scripts/launches", "scripts/provenance", "scripts/recording", "scripts/compile.py"),
    "scripts": ("kernels",),
    "main.py": ("scripts",),
}
# Modules, models that are given the library's functions, and functions under PyTorch's names.
ON_TOP = ("kernels/functional", "kernels/integrations", "kernels/nn")
# Of the library: what the operations share knows none of them, and none of them knows the graphs that record it.
BENEATH, ABOVE = ("kernels/common",), ("kernels/operators", "kernels/labs", "kernels/tools", *ON_TOP, "kernels/__init__.py")


def graph(root: Path = ROOT) -> Graph:
    """What each file of the project imports from it."""
    code, found = Code(root), Graph()
    files = [path for room in PROJECT for path in (root / room).rglob("*.py") if "node_modules" not in path.parts]
    for path in sorted([*files, *root.glob("main.py")]):
        code.imports(path)  # refuses what cannot be followed
        taken = {code.meant(node, alias).path for node in project_imports(code.tree(path)) for alias in node.names}
        found[path.relative_to(root).as_posix()] = {file.relative_to(root).as_posix() for file in taken} | takes_main(path, code)
    return found


def takes_main(path: Path, code: Code) -> set[str]:
    """The pages' macros, which lie in no package, where a file imports them."""
    for node in ast.walk(code.tree(path)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None)]
        if "main" in names and isinstance(node, ast.Import | ast.ImportFrom):
            return {"main.py"}
    return set()


def is_in(path: str, room: str) -> bool:
    return path == room or path.startswith(f"{room}/")


def room_of(path: str) -> str:
    """The narrowest room that a file belongs to; tests are in none, for they may import everything."""
    return max((room for room in ALLOWED if is_in(path, room)), key=len, default="")


def backward(imports: Graph) -> list[str]:
    """The imports that run against the order of the rooms."""
    found = []
    for path, taken in imports.items():
        room = room_of(path)
        for other in sorted(taken) if room else []:
            if not any(is_in(other, allowed) for allowed in (room, *ALLOWED[room])):
                found.append(f"{path} imports {other}")
    return found


def backward_in_the_library(imports: Graph) -> list[str]:
    """The imports of what is shared that reach an operation, and those of an operation that reach what is built on it."""
    found = []
    for path, taken in imports.items():
        if not is_in(path, "kernels") or any(is_in(path, room) for room in ABOVE):
            continue
        is_shared = any(is_in(path, room) for room in BENEATH)
        for other in sorted(taken):
            if any(is_in(other, room) for room in ABOVE) or is_shared and not any(is_in(other, room) for room in BENEATH):
                found.append(f"{path} imports {other}")
    return found


def circle(imports: Graph) -> list[str]:
    """Files each of which imports the next and the last the first, or nothing."""
    done: set[str] = set()

    def walk(path: str, trail: list[str]) -> list[str]:
        if path in trail:
            return [*trail[trail.index(path) :], path]
        if path in done:
            return []
        done.add(path)
        return next(filter(None, (walk(other, [*trail, path]) for other in sorted(imports.get(path, ())))), [])

    return next(filter(None, (walk(path, []) for path in imports)), [])


@pytest.fixture(scope="module")
def imports() -> Graph:
    return graph()


def test_no_import_runs_backward(imports):
    assert backward(imports) == []


def test_operations_stand_between_what_they_share_and_what_is_built_on_them(imports):
    assert backward_in_the_library(imports) == []


def test_operators_are_imported_by_the_package_alone(imports):
    inside = [path for path in imports if is_in(path, "kernels") and not is_in(path, "kernels/operators")]
    importing = [path for path in inside if any(is_in(other, "kernels/operators") for other in imports[path])]
    assert [path for path in importing if not any(is_in(path, room) for room in ON_TOP)] == ["kernels/__init__.py"]


def test_no_imports_go_round_in_a_circle(imports):
    assert circle(imports) == []


def test_every_room_is_known(imports):
    assert {room for room in PROJECT if room != "tests"} <= ALLOWED.keys()
    rooms = {"/".join(path.split("/")[:2]) for path in imports if path.startswith("scripts/") and path.count("/") > 1}
    assert rooms == {room for room in ALLOWED if room.startswith("scripts/")}


# Every rule can fail

TREE = {
    "main.py": "from scripts.pages.formats import us\n",
    "kernels/__init__.py": "from kernels.norm import norm\nfrom kernels.operators.rows import in_graph\n",
    "kernels/common/sizes.py": "SIZE = 3\n",
    "kernels/norm/__init__.py": "from kernels.norm.norm import norm\n",
    "kernels/norm/norm.py": "from kernels.common.sizes import SIZE\n\n\ndef norm(x):\n    return x * SIZE\n",
    "kernels/operators/rows.py": "from kernels.norm.norm import norm\n\n\ndef in_graph(x):\n    return norm(x)\n",
    "snippets/first/launch.py": "from kernels.norm import norm\n\nprint(norm(1))\n",
    "snippets/first/again.py": "from snippets.first.launch import norm\n",
    "scripts/__init__.py": "ROOT = 1\n",
    "scripts/bake.py": "from scripts.baking.work import do\n",
    "scripts/baking/work.py": "from scripts.provenance.records import read\n\n\ndef do():\n    return read()\n",
    "scripts/pages/formats.py": "def us(x):\n    return x\n",
    "scripts/provenance/records.py": "from scripts import ROOT\n\n\ndef read():\n    return ROOT\n",
    "tests/test_all.py": "from kernels import norm\nfrom scripts.bake import do\n",
}


def planted(folder: Path, **files: str) -> Graph:
    """The imports of the small tree, with some files otherwise."""
    trees.put(folder, TREE | {name.replace("__", "/") + ".py": text for name, text in files.items()})
    return graph(folder)


def test_the_small_tree_is_in_order(tmp_path):
    imports = planted(tmp_path)
    assert not backward(imports) and not backward_in_the_library(imports) and not circle(imports)
    # By way of a package, a name counts for the file that defines it.
    assert imports["snippets/first/launch.py"] == imports["tests/test_all.py"] - {"scripts/bake.py"} == {"kernels/norm/norm.py"}


@pytest.mark.parametrize(
    ("file", "text", "taken"),
    [
        ("kernels__common__sizes", "from snippets.first.launch import norm\nSIZE = 3\n", "snippets/first/launch.py"),
        ("kernels__common__sizes", "from scripts import ROOT\nSIZE = 3\n", "scripts/__init__.py"),
        ("snippets__first__again", "def main():\n    from scripts import ROOT\n", "scripts/__init__.py"),
        ("scripts__provenance__records", "from scripts.baking.work import do\n\nread = 1\n", "scripts/baking/work.py"),
        ("scripts__provenance__records", "import scripts.pages.formats as formats\n\nread = 1\n", "scripts/pages/formats.py"),
        ("scripts__baking__work", "from scripts import bake\n\ndo = 1\n", "scripts/bake.py"),
        ("scripts__bake", "from tests.test_all import norm\n", "tests/test_all.py"),
        ("scripts__bake", "def late():\n    import main\n", "main.py"),
        ("main", "from kernels import norm\n", "kernels/norm/norm.py"),
    ],
)
def test_an_arrow_that_runs_backward_is_found(tmp_path, file, text, taken):
    assert backward(planted(tmp_path, **{file: text})) == [f"{file.replace('__', '/')}.py imports {taken}"]


@pytest.mark.parametrize(
    ("file", "text", "taken"),
    [
        ("kernels__common__sizes", "from kernels.norm import norm\nSIZE = 3\n", "kernels/norm/norm.py"),
        ("kernels__norm__norm", "from kernels.operators.rows import in_graph\n\nnorm = 1\n", "kernels/operators/rows.py"),
        ("kernels__norm__norm", "import kernels\n\nnorm = 1\n", "kernels/__init__.py"),
    ],
)
def test_an_arrow_that_runs_backward_in_the_library_is_found(tmp_path, file, text, taken):
    assert backward_in_the_library(planted(tmp_path, **{file: text})) == [f"{file.replace('__', '/')}.py imports {taken}"]


def test_a_circle_is_found(tmp_path):
    late = "def norm(x):\n    from kernels.norm.rows import rows\n\n    return rows(x)\n"
    rows = "from kernels.norm import norm\n\n\ndef rows(x):\n    return norm(x)\n"
    found = circle(planted(tmp_path, kernels__norm__norm=late, kernels__norm__rows=rows))
    assert found == ["kernels/norm/norm.py", "kernels/norm/rows.py", "kernels/norm/norm.py"]
