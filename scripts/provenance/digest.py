"""The digest that ties a record to the code it came from: what the code says, and not where it lies. Standard library alone.

    digest(["snippets/first_kernel/launch.py"])                                   a whole file, and what it reaches
    digest(["kernels/__init__.py:softmax", "scripts/compile.py:measured"])        definitions, and what they reach

Comments, docstrings, line breaks and the version of Python do not enter. A file that is given whole enters statement by
statement, in order; whatever it reaches elsewhere enters by its name, once. The project's own imports say only where something
lies, so they do not enter, and of monkeypatch.setattr("kernels.norm.norm.LIMIT", 3) or "kernels/sum.py" the last name alone
does: a file may be moved, and a function given to a sibling, and no record grows old.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from scripts.provenance.follow import PROJECT, Code, CodeError, Place, is_docstring, is_project

Definitions = dict[str, list[str]]
ONE = "one published program cannot hold both"
# The dotted name of something of the project, and the functions that take one to reach what it names.
NAMING = ("setattr", "patch", "import_module")
DOTTED = re.compile(rf"(?:{'|'.join(PROJECT)})(?:\.[A-Za-z_]\w*)*\.([A-Za-z_]\w*)")
# The markers of regions that pages show, inside a text of CUDA C++; the published program has none.
MARKERS = re.compile(r"^[ \t]*(?:#|//) --8<-- \[(?:start|end):[\w.-]+\]\s*?\n", re.MULTILINE)
FILE = re.compile(rf"(?:{'|'.join(PROJECT)})/(?:\w+/)*(\w+)\.py(:\w+)?")


def digest(entries: Iterable[str], code: Code | None = None) -> str:
    """The digest of what the entries say and reach; an entry is a file, or a definition as `file:name`."""
    code = code or Code()
    whole, roots = code.parted(entries)
    said = hashlib.sha256()
    for statements in sorted(own(code.tree(path)) for path in whole):
        said.update(f"[{','.join(statements)}]".encode())
    for name in sorted(place.name for place in roots):
        said.update(json.dumps(["of", name]).encode())
    for name, texts in sorted(definitions(whole, roots, code).items()):
        said.update(f"[{json.dumps(name)},{','.join(texts)}]".encode())
    return said.hexdigest()


def own(tree: ast.Module) -> list[str]:
    """The statements of a whole file."""
    body = tree.body[1:] if is_docstring(tree.body) else tree.body
    return [text for node in body if (text := canonical_node(node))]


def definitions(whole: list[Path], roots: list[Place], code: Code) -> Definitions:
    """What is reached, name by name: the text of each definition, or several where modules mean different things by a name."""
    wanted = [place for path in whole for place in code.imports(path).values()] + roots
    found: dict[str, dict[str, str]] = {}
    for place, nodes in code.followed(wanted).items():
        texts = [text for node in nodes if (text := canonical_node(node))]
        if texts and place.path not in whole:
            found.setdefault(place.name, {})[f"[{','.join(texts)}]"] = f"{place.path}:{nodes[0].lineno}"
    for name, variants in found.items():
        # A lab may: it is a notebook beside the library, and never one file with it.
        if name and len(variants) > 1 and any(path.is_relative_to(code.root / "snippets") for path in whole):
            raise CodeError(f"{name} is bound in {' and otherwise in '.join(sorted(variants.values()))}: {ONE}")
    return {name: sorted(variants) for name, variants in found.items()}


@cache
def canonical_node(node: ast.AST) -> str:
    """A statement as text, and nothing for an import of the project that gives no other name."""
    return canonical(node)


def canonical(node: Any) -> str:
    """A syntax tree as lists in JSON, without docstrings and without empty fields, which differ between Pythons.

    Text is spelled in ASCII, because which characters `repr` escapes differs too.
    """
    if isinstance(node, list):
        return f"[{','.join(text for part in node if (text := canonical(part)))}]"
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and (file := FILE.fullmatch(node.value)):
            return json.dumps(["file", *file.groups(default="")])
        if isinstance(node.value, str) and "--8<--" in node.value:
            node = ast.Constant(MARKERS.sub("", node.value))
        return f'["Constant","{type(node.value).__name__}",{json.dumps(ascii(node.value))}]'
    if not isinstance(node, ast.AST):
        return json.dumps(ascii(node))
    if is_project(node):
        renamed = [[alias.name, alias.asname] for alias in node.names if alias.asname]  # type: ignore[attr-defined]
        return json.dumps(["as", *renamed]) if renamed else ""
    node, fields = without_place(node), ""
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


def without_place(node: ast.AST) -> ast.AST:
    """The node, but for a call or a look-up by a dotted name of the project one by its last name."""
    match node:
        case ast.Call(func=ast.Attribute(attr=called), args=[ast.Constant(value=str(text)), *rest]) if called in NAMING:
            if dotted := DOTTED.fullmatch(text):
                return ast.Call(func=node.func, args=[ast.Constant(dotted[1]), *rest], keywords=node.keywords)
        case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Constant(value=str(text))):
            if dotted := DOTTED.fullmatch(text):
                return ast.Subscript(value=node.value, slice=ast.Constant(dotted[1]), ctx=node.ctx)
    return node
