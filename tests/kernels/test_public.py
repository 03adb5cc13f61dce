"""What the library promises as a whole: names, docstrings, references, and what its modules may know of each other."""

import ast
import importlib
import inspect
import sys
from collections import Counter
from pathlib import Path

import pytest

import kernels
from scripts.provenance import sources
from scripts.provenance.follow import Code

PACKAGE = Path(kernels.__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" and "labs" not in path.parts)
CODE = Code()
SECTIONS = ["Example", "Args", "Returns", "Raises", "Bytes", "Flops", "Source"]
# Its functions have PyTorch's names, some of which are those of the library's own functions, too.
NAMED_BY_PYTORCH = PACKAGE / "functional"
# What the library stands on, and besides it the standard library alone.
ALLOWED = {"torch", "triton", "kernels"} | set(sys.stdlib_module_names)


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def names_defined(path: Path) -> list[str]:
    names = []
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
    return names


def imports(path: Path) -> list[str]:
    modules = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append("." * node.level + (node.module or ""))
    return modules


def test_the_package_only_passes_names_on():
    *body, last = tree(PACKAGE / "__init__.py").body
    assert isinstance(body[0], ast.Expr), "a docstring first"
    assert "operator_in_graph(globals()[name], in_graph)" in ast.unparse(last), "then every function gets its stand-in for graphs"
    for node in body[1:]:
        assigned = isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets]
        assert isinstance(node, ast.ImportFrom) or assigned in (["__all__"], ["__version__"]), ast.unparse(node)
    imported = [alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(imported) == sorted([*kernels.__all__, "IN_GRAPHS", "operator_in_graph"])


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*/__init__.py")), ids=lambda path: path.parent.name)
def test_a_package_s_face_only_passes_names_on(path):
    allowed = [node for node in tree(path).body if isinstance(node, ast.ImportFrom | ast.Expr)]
    names = [alias.name for node in allowed if isinstance(node, ast.ImportFrom) for alias in node.names]
    said = [ast.unparse(node) for node in tree(path).body if not isinstance(node, ast.ImportFrom | ast.Expr)]
    assert said == ([f"__all__ = {sorted(names)}"] if names else [])


def test_no_two_modules_define_one_name():
    counts: Counter[str] = Counter()
    for path in MODULES:
        pytorchs = {*kernels.__all__} if path.parent == NAMED_BY_PYTORCH else set()
        counts.update(name for name in names_defined(path) if name not in pytorchs)
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_modules_know_torch_triton_and_their_siblings(path):
    for module in imports(path):
        assert module.split(".")[0] in ALLOWED, f"{path.name} imports {module}"
        assert module != "kernels", f"{path.name}: import from a sibling module, not from the package"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_modules_say_what_they_are_for(path):
    assert ast.get_docstring(tree(path))


@pytest.mark.parametrize("name", kernels.__all__)
def test_public_function_stands_in_the_module_of_its_name_with_its_reference(name):
    path = sources.public_source(name, CODE).path
    module = importlib.import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
    function, reference = getattr(module, name), getattr(module, f"{name}_reference")
    assert getattr(kernels, name).__wrapped__ is function
    assert list(inspect.signature(reference).parameters.items()) == list(inspect.signature(function).parameters.items())
    assert inspect.getdoc(reference)
    used = {node.id for node in ast.walk(ast.parse(inspect.getsource(reference))) if isinstance(node, ast.Name)}
    assert not used & {"tl", "triton", *names_defined(path)}, "a reference is plain PyTorch"


@pytest.mark.parametrize("name", kernels.__all__)
def test_public_function_has_its_entry_in_the_reference(name):
    page = (PACKAGE.parent / "docs/reference/kernels.md").read_text(encoding="utf-8")
    assert f'<a id="kernels.{name}"></a>' in page and f'heading: "kernels.{name}(' in page


@pytest.mark.parametrize("name", kernels.__all__)
def test_docstring_has_every_section_in_order(name):
    function = getattr(kernels, name)
    lines = inspect.getdoc(function).splitlines()
    assert lines[0].endswith("."), "one sentence first"
    found = [line.removesuffix(":") for line in lines if line.removesuffix(":") in SECTIONS]
    assert found == SECTIONS
    for section in SECTIONS:
        assert lines[lines.index(f"{section}:") + 1].startswith("    "), f"{section} is empty"


@pytest.mark.parametrize("name", kernels.__all__)
def test_docstring_names_every_argument_and_error(name):
    function = getattr(kernels, name)
    doc = inspect.getdoc(function)
    arguments = doc[doc.index("Args:") : doc.index("Returns:")]
    for parameter in inspect.signature(function).parameters:
        assert f"    {parameter}: " in arguments
    assert "TypeError:" in doc and "ValueError:" in doc


@pytest.mark.parametrize("name", kernels.__all__)
def test_public_function_is_annotated(name):
    signature = inspect.signature(getattr(kernels, name))
    annotations = [parameter.annotation for parameter in signature.parameters.values()] + [signature.return_annotation]
    assert inspect.Parameter.empty not in annotations
