"""Published programs: a snippet with its imports from `kernels` written in, so that one file runs alone.

    inline("first_kernel/launch")  ->  the text of docs/programs/first_kernel/launch.py

Only the definitions that the snippet needs are written in, letter for letter as they stand in the library.
The standard library alone.
"""

import ast
import builtins
import re
import symtable
from functools import cache
from pathlib import Path

from scripts.records import ROOT, RecordError, followed, module_of, tree_of

ONE = "one published program cannot hold both"
# Without it a text imports nothing of the library, and to parse it is dear.
MAY_IMPORT = re.compile(r"\bfrom[\s\\]*(?:kernels|snippets|\.[\s\w.\\]*\bimport\b)|\bimport\b[\s\w.,\\]*\bkernels\b")
MARKER = re.compile(r"^\s*(?:#|//) --8<-- \[(start|end):[\w.-]+\]\s*$")


def snippet_names(root: Path = ROOT) -> list[str]:
    """Every program under snippets/, as `<chapter>/<name>`."""
    paths = sorted((root / "snippets").rglob("*.py"))
    return [path.relative_to(root / "snippets").with_suffix("").as_posix() for path in paths if path.name != "__init__.py"]


def public_modules(root: Path = ROOT) -> list[str]:
    """The modules of the library's public functions."""
    package = root / "kernels" / "__init__.py"
    body = ast.parse(package.read_text(encoding="utf-8")).body if package.exists() else []
    passed_on = [node for node in body if isinstance(node, ast.ImportFrom) and node.module]
    # A public function stands in the module of its name; what else is imported there serves the package itself.
    modules = {(node.module or "").split(".")[-1]: {alias.name for alias in node.names} for node in passed_on}
    return sorted(module for module, names in modules.items() if module in names)


def tests_of(module: str, root: Path = ROOT) -> list[str]:
    """The files of tests of a public function: its own, or those that import it."""
    folder = root / "tests" / "kernels"
    own = folder / f"test_{module}.py"
    imported = re.compile(rf"^from kernels(\.{module})? import .*\b{module}\b", re.MULTILINE)
    files = [own] if own.exists() else [file for file in sorted(folder.glob("test_*.py")) if imported.search(file.read_text())]
    return [file.relative_to(root).as_posix() for file in files if file.stem not in ("test_compiles", "test_public")]


def needs_of(name: str, root: Path = ROOT) -> str:
    """What the program needs beyond a CPU, from its header: `cuda`, `sm_90`, or nothing."""
    return header(name, "needs", root)


def header(name: str, key: str, root: Path = ROOT) -> str:
    """The value of a header comment such as `# needs: cuda`, or nothing."""
    match = re.search(rf"^# {key}: (.+)$", snippet_path(name, root).read_text(encoding="utf-8"), re.MULTILINE)
    return match.group(1).strip() if match else ""


def snippet_path(name: str, root: Path = ROOT) -> Path:
    return root / "snippets" / f"{name}.py"


def import_line(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    return ast.unparse(type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]}))


def inline(name: str, root: Path = ROOT) -> str:
    """The self-contained text of a snippet."""
    path = snippet_path(name, root)
    lines = path.read_text(encoding="utf-8").splitlines()
    tree = tree_of(path)
    library = [node for node in tree.body if isinstance(node, ast.ImportFrom) and is_library(node)]
    for node in library:
        refuse_unfollowed(node, path)
    wanted = [(module_of(node.module or "", alias.name, root), alias.name) for node in library for alias in node.names]
    if library:
        others = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) and node not in library]
        own_imports = {import_line(node, alias): node.lineno < library[0].lineno for node in others for alias in node.names}
        block = library_block(wanted, {line for line, before in own_imports.items() if before}, root)
        for node in reversed(library):
            lines[node.lineno - 1 : node.end_lineno] = []
        both = bound([line for line in block if line not in own_imports]) & bound(lines)
        if both:
            raise RecordError(f"{path}: {sorted(both)[0]} is also a name of the library's code that is written into this program")
        lines[library[0].lineno - 1 : library[0].lineno - 1] = block
    text = "\n".join(line for line in lines if not MARKER.match(line))
    if MAY_IMPORT.search(text) and any(is_library(node) for node in ast.walk(ast.parse(text))):
        raise RecordError(f"{path}: its code imports from kernels elsewhere than at the top level, or not by name")
    return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n") + "\n"


def is_library(node: ast.AST) -> bool:
    """Whether a statement imports something of the library, or of another program."""
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").split(".")[0] in ("kernels", "snippets")
    return isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "kernels" for alias in node.names)


def refuse_unfollowed(node: ast.ImportFrom, path: Path) -> None:
    if node.level or any(alias.asname for alias in node.names):
        raise RecordError(f"{path}:{node.lineno}: `as` and relative imports cannot be followed into a published program")


def bound(lines: list[str]) -> set[str]:
    """The names that a program's top level binds."""
    symbols = symtable.symtable("\n".join(lines), "program", "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}


def library_block(wanted: list[tuple[Path, str]], own_imports: set[str], root: Path) -> list[str]:
    """The lines that stand in for the imports from `kernels`: outside imports first, then each module's definitions."""
    definitions: dict[Path, list[ast.stmt]] = {}
    owners: dict[str, Path] = {}
    imports: dict[str, str] = {}
    for (path, name), nodes in sorted(followed(wanted, root).items()):
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign):
                if owners.setdefault(name, path) != path:
                    raise RecordError(f"{name} is defined both in {owners[name]} and in {path}: {ONE}")
                if node not in definitions.setdefault(path, []):
                    definitions[path].append(node)
            elif not isinstance(node, ast.Import | ast.ImportFrom):
                raise RecordError(f"{path}:{node.lineno}: only imports and definitions can be written into a published program")
            elif is_library(node):
                definitions.setdefault(path, [])
            elif (line := ast.unparse(node)) not in own_imports and imports.setdefault(name, line) != line:
                raise RecordError(f"{path}: {name} is imported otherwise elsewhere: {ONE}")
    for name in sorted(owners.keys() & imports.keys()):
        raise RecordError(f"{owners[name]}: {name} is defined here and imported elsewhere: {ONE}")
    for path, nodes in definitions.items():
        refuse_hidden(path, nodes, {name for name, owner in owners.items() if owner != path})
    block = [*sorted(imports.values(), key=lambda line: (line.startswith("from"), line))]
    for path in in_order(list(definitions), root):
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in sorted(definitions[path], key=lambda node: node.lineno):
            first = node.lineno == min(node.lineno for node in definitions[path])
            is_value = isinstance(node, ast.Assign | ast.AnnAssign)
            block += ["", ""] if not (is_value and not first and block and not block[-1].startswith((" ", ")"))) else []
            block += [f"# From {path.relative_to(root).as_posix()}"] if first else []
            block += text_of(node, lines)
    return [*block, "", ""]


def refuse_hidden(path: Path, nodes: list[ast.stmt], names: set[str]) -> None:
    """Raise where one module calls a function of Python's own, such as max, by a name that another one defines."""
    library = [node for node in tree_of(path).body if isinstance(node, ast.ImportFrom) and is_library(node)]
    hidden = names & set(dir(builtins)) - {alias.name for node in library for alias in node.names}
    for node in nodes if hidden else []:
        for name in sorted(hidden & outside_names(node)):
            raise RecordError(f"{path}:{node.lineno}: means Python's {name}, which another module would hide: {ONE}")


@cache  # a definition is written into many programs
def outside_names(node: ast.stmt) -> set[str]:
    return looked_up(symtable.symtable(ast.unparse(node), "definition", "exec"))


def looked_up(scope: symtable.SymbolTable) -> set[str]:
    """The names that a scope, or one within it, takes from outside of all functions."""
    found = {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return found.union(*(looked_up(inner) for inner in scope.get_children()))


def in_order(modules: list[Path], root: Path) -> list[Path]:
    """The modules, each after every one that it takes something from."""
    order: list[Path] = []
    placed: set[Path] = set()

    def place(path: Path) -> None:
        if path in placed:
            return
        placed.add(path)
        library = [node for node in tree_of(path).body if isinstance(node, ast.ImportFrom) and is_library(node)]
        for node in library:
            refuse_unfollowed(node, path)
        for used in sorted({module_of(node.module or "", alias.name, root) for node in library for alias in node.names}):
            if used in modules:
                place(used)
        order.append(path)

    for path in sorted(modules):
        place(path)
    return order


def text_of(node: ast.stmt, lines: list[str]) -> list[str]:
    """A definition's lines as they stand, with the comment directly above it and without region markers."""
    start = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))]) - 1
    while start > 0 and lines[start - 1].startswith("#"):
        start -= 1
    return "\n".join(line for line in lines[start : node.end_lineno] if not MARKER.match(line)).strip("\n").splitlines()
