"""Records: what was run, on which machine, by which code, and what came out. The standard library alone.

A record is one JSON file under docs/baked/<machine>/. It names the files of code it came from and carries their
hash, so that any machine can tell whether a published result is older than the code beside it.
"""

import ast
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BAKED = ROOT / "docs" / "baked"
SCHEMA = 1
KINDS = ("program", "compiled", "trace", "lab", "matrix", "mutants")
FOLDERS = {"program": "", "trace": "traces", "lab": "labs"}  # of the others, a kind's name is its folder's
trees: dict[Path, ast.Module] | None = None  # see reading_once
FIELDS = {"schema": int, "kind": str, "name": str, "code": list, "hash": str, "environment": dict}


class RecordError(Exception):
    """A record that cannot be read or written, with the file and the reason in words."""


def read(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise RecordError(f"{path}: there is no such record") from None
    except OSError as error:
        raise RecordError(f"{path}: not a readable record ({error})") from None
    return parse(data, str(path))


def parse(data: bytes, where: str) -> dict[str, Any]:
    """The record that a file holds; `where` names the file in messages."""
    try:
        record = json.loads(data.decode("utf-8"))
    except ValueError as error:
        raise RecordError(f"{where}: not a readable record ({error})") from None
    known = record if isinstance(record, dict) else {}
    lacking = [field for field, kind in FIELDS.items() if not isinstance(known.get(field), kind)]
    if lacking:
        raise RecordError(f"{where}: not a record, it lacks {', '.join(lacking)}")
    if record["schema"] != SCHEMA or record["kind"] not in KINDS:
        raise RecordError(f"{where}: schema {record['schema']}, kind {record['kind']!r} is none that this checkout knows")
    return record


def write(path: Path, record: dict[str, Any]) -> None:
    """Write a record whole or not at all."""
    write_text(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: beside its place first, then moved over it."""
    temporary, data = None, text.encode("utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part", delete=False) as file:
            temporary = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        raise RecordError(f"{path}: could not be written ({error.strerror}); what stood there before is untouched") from None


def all_records(machine: str, baked: Path = BAKED) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every record of one machine, in the order of their paths; chart sidecars are no records."""
    for path in sorted((baked / machine).rglob("*.json")):
        if "charts" not in path.relative_to(baked / machine).parts:
            yield path, read(path)


def record_path(machine: str, kind: str, name: str, baked: Path = BAKED) -> Path:
    return baked / machine / FOLDERS.get(kind, kind) / f"{name}.json"


def closure(paths: Iterable[str | Path], root: Path = ROOT) -> list[Path]:
    """The given files and every `kernels` module that they import, directly or indirectly."""
    found: set[Path] = set()
    waiting = [root / path for path in paths]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(module for module, _ in kernels_imports(path, root))
    return sorted(found)


def kernels_imports(path: Path, root: Path = ROOT) -> list[tuple[Path, list[str]]]:
    """The modules that a file imports names from. A name taken from the package `kernels` counts for its own module."""
    package = root / "kernels" / "__init__.py"
    return imports_in(tree_of(path), path, root, tree_of(package) if package.exists() else None)


@cache
def imports_in(tree: ast.Module, path: Path, root: Path, package: ast.Module | None) -> list[tuple[Path, list[str]]]:
    """The imports of one file; the package's own text is asked for because names may be taken from it."""
    imports: list[tuple[Path, list[str]]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        whole = isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "kernels" for alias in node.names)
        if whole or isinstance(node, ast.ImportFrom) and node.level:
            advice = "write `from kernels.<module> import <name>`, so that its code can be followed"
            raise RecordError(f"{path}:{node.lineno}: {advice}")
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in followed_in(path, root):
            for alias in node.names:
                imports.append((module_of(node.module or "", alias.name, root), [alias.name]))
    return imports


def followed_in(path: Path, root: Path = ROOT) -> tuple[str, ...]:
    """The packages whose imports a file's code is followed into: a program may also take definitions of another program."""
    return ("kernels", "snippets") if path.is_relative_to(root / "snippets") else ("kernels",)


def module_of(module: str, name: str, root: Path = ROOT) -> Path:
    """The file that defines `name` for `from module import name`."""
    if module != "kernels":
        path = root / module.replace(".", "/")
        return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in tree_of(root / "kernels/__init__.py").body:
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return root / ((node.module or "").replace(".", "/") + ".py")
    raise RecordError(f"kernels/__init__.py exports no {name}")


def code_hash(paths: Iterable[str | Path], root: Path = ROOT) -> str:
    """A hash of what the code says: comments, docstrings, line breaks and the Python version do not enter.

    The given files count whole. Of the library counts what they reach, definition by definition, which is also what
    their published form carries: a change to another kernel of the same file makes nothing stale.
    """
    digest = hashlib.sha256()
    given = sorted({root / path for path in paths})
    for path in given:
        digest.update(f"[{json.dumps(path.relative_to(root).as_posix())},{canonical_node(tree_of(path))}]".encode())
    for (where, name), said in sorted(reached(given, root).items()):
        digest.update(f"[{json.dumps([where, name])},{said}]".encode())
    return digest.hexdigest()


def reached(given: list[Path], root: Path) -> dict[tuple[str, str], str]:
    """What the given files reach in modules of the library: the text of each definition by its file and its name."""
    wanted = [(module, name) for path in given for module, names in kernels_imports(path, root) for name in names]
    return {
        (path.relative_to(root).as_posix(), name): f"[{','.join(canonical_node(node) for node in nodes)}]"
        for (path, name), nodes in followed(wanted, root).items()
        if path not in given
    }


def followed(wanted: list[tuple[Path, str]], root: Path = ROOT) -> dict[tuple[Path, str], list[ast.stmt]]:
    """What names of library modules reach: the statements that bind each name, by its file and itself.

    A file's statements that bind no name stand under an empty one, and count wherever the file counts.
    """
    found: dict[tuple[Path, str], list[ast.stmt]] = {}
    files: dict[Path, tuple[dict[str, list[ast.stmt]], dict[str, Path]]] = {}  # each is read once
    waiting = list(wanted)
    while waiting:
        path, name = waiting.pop()
        if (path, name) in found:
            continue
        if path not in files:
            siblings = {name: sibling for sibling, names in kernels_imports(path, root) for name in names}
            files[path] = parts_of(tree_of(path)), siblings
        module, siblings = files[path]
        nodes = found[path, name] = module.get(name, [])
        if not nodes and name not in siblings and name:
            raise RecordError(f"{path}: defines no {name}")
        used = {name}.union(*(names_in(node) for node in nodes))
        waiting += [(siblings[part], part) for part in used if part in siblings]
        waiting += [(path, part) for part in (used - {name} | {""}) if part in module]
    return found


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


@contextmanager
def reading_once() -> Iterator[None]:
    """Within it each file of code is read once, for a script that asks for all records and changes no code."""
    global trees
    trees = {}
    try:
        yield
    finally:
        trees = None


def tree_of(path: Path) -> ast.Module:
    if trees is None:
        return read_tree(path)
    if path not in trees:
        trees[path] = read_tree(path)
    return trees[path]


def read_tree(path: Path) -> ast.Module:
    try:
        return parsed(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        error.filename = str(path)
        raise


# Many records come from the same few files, and each file is parsed once.
@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def names_in(node: ast.stmt) -> frozenset[str]:
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


@cache
def canonical_node(node: ast.AST) -> str:
    return canonical(node)


def canonical(node: Any) -> str:
    """A syntax tree as lists in JSON, without docstrings and without empty fields, which differ between Pythons.

    Text is spelled in ASCII, because which characters `repr` escapes differs too.
    """
    if isinstance(node, list):
        return f"[{','.join(map(canonical, node))}]"
    if isinstance(node, ast.Constant):
        return f'["Constant","{type(node.value).__name__}",{json.dumps(ascii(node.value))}]'
    if not isinstance(node, ast.AST):
        return json.dumps(ascii(node))
    fields = ""
    for field in sorted(node._fields):
        value: Any = getattr(node, field, None)
        if field == "body" and isinstance(value, list) and is_docstring(value):
            value = value[1:]
        if isinstance(node, ast.JoinedStr):
            # Python 3.12 ends a format that holds a field, as in f"{x:>{width}}", with an empty text.
            value = [part for part in value if not (isinstance(part, ast.Constant) and part.value == "")]
        if value is not None and value != []:
            fields += f',["{field}",{canonical(value)}]'
    return f'["{type(node).__name__}"{fields}]'


def is_docstring(body: list[ast.stmt]) -> bool:
    first = body[0].value if body and isinstance(body[0], ast.Expr) else None
    return isinstance(first, ast.Constant) and isinstance(first.value, str)


def is_kept(path: Path, code: list[str]) -> bool:
    """Whether there is a readable record, made from these files as they are today."""
    try:
        record = read(path)
    except RecordError:
        return False
    return record["code"] == code and is_fresh(record)


def is_fresh(record: dict[str, Any], root: Path = ROOT) -> bool:
    """Whether the code that made the record is the code of this checkout."""
    try:
        return code_hash(record["code"], root) == record["hash"]
    except (OSError, SyntaxError, ValueError, TypeError, RecordError):
        return False
