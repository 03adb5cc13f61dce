"""Published programs: a snippet with its imports from `kernels` written in, so that one file runs alone.

    inline("first_kernel/launch")  ->  the text of docs/programs/first_kernel/launch.py

Only the definitions that the snippet needs are written in, letter for letter as they stand in the library: those that the
digest of its record is made of (scripts/provenance/digest.py), as a test holds. The standard library alone.
"""

import ast
import builtins
import re
import symtable
from functools import cache
from pathlib import Path

from scripts.provenance.digest import ONE
from scripts.provenance.follow import Code, CodeError, Place, is_project
from scripts.provenance.programs import MARKER, snippet_path

# Without it a text imports nothing of the project, and to parse it is dear.
MAY_IMPORT = re.compile(
    r"\bfrom[\s\\]*(?:kernels|snippets|scripts|tests|\.[\s\w.\\]*\bimport\b)|\bimport\b[\s\w.,\\]*\bkernels\b"
)


def import_line(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    return ast.unparse(type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]}))


def inline(name: str, code: Code | None = None) -> str:
    """The self-contained text of a snippet."""
    code = code or Code()
    path = snippet_path(name, code.root)
    lines = path.read_text(encoding="utf-8").splitlines()
    tree = code.tree(path)
    library = library_imports(path, code)
    wanted = [code.place(node.module or "", alias.name) for node in library for alias in node.names]
    if library:
        others = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) and node not in library]
        own_imports = {import_line(node, alias): node.lineno < library[0].lineno for node in others for alias in node.names}
        block = library_block(wanted, {line for line, before in own_imports.items() if before}, code)
        for node in reversed(library):
            lines[node.lineno - 1 : node.end_lineno] = []
        both = bound([line for line in block if line not in own_imports]) & bound(lines)
        if both:
            raise CodeError(f"{path}: {sorted(both)[0]} is also a name of the library's code that is written into this program")
        lines[library[0].lineno - 1 : library[0].lineno - 1] = block
    text = "\n".join(line for line in lines if not MARKER.match(line))
    if MAY_IMPORT.search(text) and any(is_project(node) for node in ast.walk(ast.parse(text))):
        raise CodeError(f"{path}: its code imports from kernels elsewhere than at the top level, or not by name")
    return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n") + "\n"


def library_imports(path: Path, code: Code) -> list[ast.ImportFrom]:
    """A file's imports from the project at its top level, which are by name and give none another."""
    found = [node for node in code.tree(path).body if isinstance(node, ast.ImportFrom) and is_project(node)]
    for node in found:
        if node.level or any(alias.asname or alias.name == "*" for alias in node.names):
            raise CodeError(f"{path}:{node.lineno}: `as` and relative imports cannot be followed into a published program")
    return found


def bound(lines: list[str]) -> set[str]:
    """The names that a program's top level binds."""
    symbols = symtable.symtable("\n".join(lines), "program", "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}


def library_block(wanted: list[Place], own_imports: set[str], code: Code) -> list[str]:
    """The lines that stand in for the imports from `kernels`: outside imports first, then each module's definitions."""
    definitions: dict[Path, list[ast.stmt]] = {}
    owners: dict[str, Path] = {}
    imports: dict[str, str] = {}
    for (path, name), nodes in sorted(code.followed(wanted).items()):
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign):
                if owners.setdefault(name, path) != path:
                    raise CodeError(f"{name} is defined both in {owners[name]} and in {path}: {ONE}")
                if node not in definitions.setdefault(path, []):
                    definitions[path].append(node)
            elif not isinstance(node, ast.Import | ast.ImportFrom):
                raise CodeError(f"{path}:{node.lineno}: only imports and definitions can be written into a published program")
            elif is_project(node):
                definitions.setdefault(path, [])
            elif (line := ast.unparse(node)) not in own_imports and imports.setdefault(name, line) != line:
                raise CodeError(f"{path}: {name} is imported otherwise elsewhere: {ONE}")
    for name in sorted(owners.keys() & imports.keys()):
        raise CodeError(f"{owners[name]}: {name} is defined here and imported elsewhere: {ONE}")
    for path, nodes in definitions.items():
        refuse_hidden(path, nodes, {name for name, owner in owners.items() if owner != path}, code)
    block = [*sorted(imports.values(), key=lambda line: (line.startswith("from"), line))]
    for path in in_order(list(definitions), code):
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in sorted(definitions[path], key=lambda node: node.lineno):
            first = node.lineno == min(node.lineno for node in definitions[path])
            is_value = isinstance(node, ast.Assign | ast.AnnAssign)
            block += ["", ""] if not (is_value and not first and block and not block[-1].startswith((" ", ")"))) else []
            block += [f"# From {path.relative_to(code.root).as_posix()}"] if first else []
            block += text_of(node, lines)
    return [*block, "", ""]


def refuse_hidden(path: Path, nodes: list[ast.stmt], names: set[str], code: Code) -> None:
    """Raise where one module calls a function of Python's own, such as max, by a name that another one defines."""
    hidden = names & set(dir(builtins)) - code.imports(path).keys()
    for node in nodes if hidden else []:
        for name in sorted(hidden & outside_names(node)):
            raise CodeError(f"{path}:{node.lineno}: means Python's {name}, which another module would hide: {ONE}")


@cache  # a definition is written into many programs
def outside_names(node: ast.stmt) -> set[str]:
    return looked_up(symtable.symtable(ast.unparse(node), "definition", "exec"))


def looked_up(scope: symtable.SymbolTable) -> set[str]:
    """The names that a scope, or one within it, takes from outside of all functions."""
    found = {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return found.union(*(looked_up(inner) for inner in scope.get_children()))


def in_order(modules: list[Path], code: Code) -> list[Path]:
    """The modules, each after every one that it takes something from."""
    order: list[Path] = []
    placed: set[Path] = set()

    def place(path: Path) -> None:
        if path in placed:
            return
        placed.add(path)
        library_imports(path, code)
        for used in sorted({source.path for source in code.imports(path).values()}):
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
