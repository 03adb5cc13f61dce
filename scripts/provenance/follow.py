"""Follow names through the project's imports: which definitions a program, a test or a build step reaches.

    code = Code()
    code.followed([(ROOT / "kernels/__init__.py", "softmax")])  ->  {(file, name): the statements that bind it, ...}

Files are read once by each `Code`, so make a new one where files may have changed. A name is followed wherever it comes from:
through `from package.module import name`, and through packages whose `__init__.py` only passes it on. The standard library alone.
"""

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from scripts import ROOT

PROJECT = ("kernels", "snippets", "scripts", "tests")
WHOLE = "*"  # in the place of a name: everything that a module says


class CodeError(Exception):
    """Code that cannot be read or followed, with its file and line."""


class Place(NamedTuple):
    """A definition, by its file and its name there."""

    path: Path
    name: str


class Code:
    """The code of one checkout."""

    def __init__(self, root: Path = ROOT):
        self.root = root
        self.trees: dict[Path, ast.Module] = {}
        self.imported: dict[Path, dict[str, Place]] = {}

    def tree(self, path: Path) -> ast.Module:
        if path not in self.trees:
            try:
                self.trees[path] = parsed(path.read_text(encoding="utf-8"))
            except SyntaxError as error:
                raise CodeError(f"{path}:{error.lineno}: {error.msg}") from None
            except (OSError, ValueError) as error:
                raise CodeError(f"{path}: cannot be read ({error})") from None
        return self.trees[path]

    def parts(self, path: Path) -> dict[str, list[ast.stmt]]:
        """A file's top-level statements by the names that they bind."""
        return parts_of(self.tree(path))

    def imports(self, path: Path) -> dict[str, Place]:
        """What each name that a file takes from the project stands for."""
        if path not in self.imported:
            found: dict[str, Place] = {}
            for node in project_imports(self.tree(path)):
                if isinstance(node, ast.ImportFrom) and (node.level or node.names[0].name == "*"):
                    advice = "write `from kernels.<module> import <name>`, so that its code can be followed"
                    raise CodeError(f"{path}:{node.lineno}: {advice}")
                for alias in node.names:
                    try:
                        found[alias.asname or alias.name] = self.meant(node, alias)
                    except CodeError as error:
                        raise CodeError(f"{path}:{node.lineno}: {error}") from None
            self.imported[path] = found
        return self.imported[path]

    def meant(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Place:
        """Where the code stands that an import gives a name to."""
        if isinstance(node, ast.ImportFrom):
            return self.place(node.module or "", alias.name)
        # `import kernels` takes everything that the package passes on.
        return Place(self.module(alias.name if alias.asname else alias.name.split(".")[0]), WHOLE)

    def place(self, module: str, name: str) -> Place:
        """Where the code stands that `from module import name` means: its definition, or a whole module of that name."""
        if not (self.root / module.replace(".", "/")).is_dir():
            return Place(self.module(module), name)
        package = self.root / module.replace(".", "/") / "__init__.py"
        if package.exists() and name in self.parts(package):
            return self.source(package, name)
        return Place(self.module(f"{module}.{name}"), WHOLE)

    def source(self, path: Path, name: str) -> Place:
        """Where a name of a package is defined: a package that only passes it on is passed over."""
        bound = self.parts(path)[name]
        if path.name == "__init__.py" and all(isinstance(node, ast.ImportFrom) and is_project(node) for node in bound):
            return self.imports(path)[name]
        return Place(path, name)

    def module(self, module: str) -> Path:
        """The file of a module."""
        path = self.root / module.replace(".", "/")
        found = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if not found.exists():
            raise CodeError(f"there is no module {module}")
        return found

    def parted(self, entries: Iterable[str]) -> tuple[list[Path], list[Place]]:
        """Entries as whole files, and as definitions (`file:name`), these where they are defined."""
        whole, roots = set(), []
        for entry in entries:
            path, _, name = entry.partition(":")
            if name and name not in self.parts(self.root / path):
                raise CodeError(f"{self.root / path}: defines no {name}")
            if name:
                roots.append(self.source(self.root / path, name))
            else:
                whole.add(self.root / path)
        return sorted(whole), roots

    def followed(self, wanted: Iterable[tuple[Path, str]]) -> dict[Place, list[ast.stmt]]:
        """What names reach: the statements that bind each, by its file and itself.

        A file's statements that bind no name stand under an empty one, and count wherever the file counts.
        """
        found: dict[Place, list[ast.stmt]] = {}
        waiting = [Place(*place) for place in wanted]
        while waiting:
            place = waiting.pop()
            if place in found:
                continue
            parts, siblings = self.parts(place.path), self.imports(place.path)
            if place.name == WHOLE:
                found[place] = []
                waiting += [Place(place.path, name) for name in parts]
                continue
            if place.name not in parts:
                raise CodeError(f"{place.path}: defines no {place.name}")
            found[place] = parts[place.name]
            used = {place.name}.union(*(names_in(node) for node in parts[place.name]))
            waiting += [siblings[name] for name in used if name in siblings]
            waiting += [Place(place.path, name) for name in (used - {place.name} | {""}) if name in parts]
        return found


@cache  # many records come from the same few files, and each file is parsed once
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def project_imports(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """A file's imports from the project, also those inside of functions."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) and is_project(node)]


def is_project(node: ast.AST) -> bool:
    """Whether a statement imports something of this project."""
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").split(".")[0] in PROJECT
    return isinstance(node, ast.Import) and any(alias.name.split(".")[0] in PROJECT for alias in node.names)


@cache
def parts_of(module: ast.Module) -> dict[str, list[ast.stmt]]:
    """A module's top-level statements by the names that they bind. Those that bind none stand under an empty name.

    What happens only when the module is run as a program is left out.
    """
    parts: dict[str, list[ast.stmt]] = {}
    body = module.body
    for node in body[1:] if is_docstring(body) else body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                alone = type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]})
                alone.lineno, alone.col_offset = node.lineno, node.col_offset
                parts.setdefault((alias.asname or alias.name).split(".")[0], []).append(alone)
        elif not (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)):
            for name in bound_by(node) or {""}:
                parts.setdefault(name, []).append(node)
    return parts


def bound_by(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement binds."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return found


@cache
def names_in(node: ast.stmt) -> frozenset[str]:
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def is_docstring(body: list[ast.stmt]) -> bool:
    first = body[0].value if body and isinstance(body[0], ast.Expr) else None
    return isinstance(first, ast.Constant) and isinstance(first.value, str)
