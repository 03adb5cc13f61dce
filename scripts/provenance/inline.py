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
from scripts.provenance.programs import MARKER, SEVERAL, needs_of, shown_on, snippet_path

# Without it a text imports nothing of the project, and to parse it is dear.
MAY_IMPORT = re.compile(
    r"\bfrom[\s\\]*(?:kernels|snippets|scripts|tests|\.[\s\w.\\]*\bimport\b)|\bimport\b[\s\w.,\\]*\bkernels\b"
)

BEGINS = "# The page's own part:"
# What a program may import from elsewhere, and how it is called there; a whole file imports no library.
PACKAGES = {"torch": "torch", "triton": "triton", "numpy": "numpy", "matplotlib": "matplotlib", "kernels": "blockwise-kernels"}
PACKAGE = re.compile(rf"^ *(?:import|from) ({'|'.join(PACKAGES)})\b", re.MULTILINE)
OF_THE_TOOLS = re.compile(r"^ *(?:import|from) kernels\.(?:tools|labs)\b", re.MULTILINE)  # a distribution of their own
SWITCH = 'os.environ["TRITON_INTERPRET"] = "1"'
HEAD = 3  # lines


def import_line(node: ast.Import | ast.ImportFrom, *aliases: ast.alias) -> str:
    """An import of these names alone."""
    return ast.unparse(type(node)(**{**dict(ast.iter_fields(node)), "names": [*aliases]}))


def inline(name: str, code: Code | None = None) -> str:
    """The self-contained text of a snippet, under lines that say what it is."""
    code = code or Code()
    path = snippet_path(name, code.root)
    lines = path.read_text(encoding="utf-8").splitlines()
    library = library_imports(path, code)
    own = [node for node in code.tree(path).body if isinstance(node, ast.Import | ast.ImportFrom) and node not in library]
    begins = f"{BEGINS} snippets/{name}.py"
    block: list[str] = []
    if library:
        wanted = [code.place(node.module or "", alias.name) for node in library for alias in node.names]
        start = library[0].lineno
        own_imports = {import_line(node, alias): node.lineno < start for node in reversed(own) for alias in node.names}
        block, names = library_block(wanted, own_imports, code)
        if both := names & bound(edited(lines, {node: [] for node in library})):
            raise CodeError(f"{path}: {sorted(both)[0]} is also a name of the library's code that is written into this program")
    replaced: dict[ast.stmt, list[str]] = {node: [] for node in library} | repeated(own, library, block, code.parts(path))
    replaced |= {node: [*block, begins] for node in library[:1]}
    text = "\n".join(line for line in edited(lines, replaced) if not MARKER.match(line))
    if MAY_IMPORT.search(text) and any(is_project(node) for node in ast.walk(ast.parse(text))):
        raise CodeError(f"{path}: its code imports from kernels elsewhere than at the top level, or not by name")
    text = re.sub(r"\n{4,}", "\n\n\n", text).strip("\n") + "\n"
    return head(name, text, begins, code.root) + text


def edited(lines: list[str], replaced: dict[ast.stmt, list[str]]) -> list[str]:
    """Lines of a program with others in the place of some statements."""
    made = list(lines)
    for node, others in sorted(replaced.items(), key=lambda part: part[0].lineno, reverse=True):
        made[node.lineno - 1 : node.end_lineno] = others
    return made


def repeated(
    own: list[ast.Import | ast.ImportFrom], library: list[ast.ImportFrom], block: list[str], parts: dict[str, list[ast.stmt]]
) -> dict[ast.stmt, list[str]]:
    """What is left of a program's own imports that import something for the second time.

    A program imports torch to look for a GPU, and once more where its page shows the imports.
    """
    found: dict[ast.stmt, list[str]] = {}
    seen: set[str] = set()
    for node in own:
        if library and node.lineno > library[0].lineno:
            seen.update(block)
        new = [alias for alias in node.names if import_line(node, alias) not in seen or not only_imported(alias, parts)]
        if len(new) < len(node.names):
            found[node] = [import_line(node, *new)] if new else []
        seen.update(import_line(node, alias) for alias in node.names)
    return found


def only_imported(alias: ast.alias, parts: dict[str, list[ast.stmt]]) -> bool:
    bindings = parts[(alias.asname or alias.name).partition(".")[0]]
    return all(isinstance(node, ast.Import | ast.ImportFrom) for node in bindings)


def head(name: str, text: str, begins: str, root: Path) -> str:
    """Where a program is shown, under which license, what it needs, and where the page's own part of it begins.

    Always as many lines, so that another title of the page moves no line of the program.
    """
    address, title = shown_on(root).get(name, ("", ""))
    before, found, _ = text.partition(begins)
    at = HEAD + 1 + (before.count("\n") if found else 0)
    lines = [
        f"Blockwise{f', {title} ({address})' if title else ''}: {name}.py. MIT license.",
        f"Needs {needed(text, needs_of(name, root))}.",
        f"The page's own part begins on line {at}{', after what it takes from the library' if found else ''}.",
    ]
    return "".join(f"# {line}\n" for line in lines)


def needed(text: str, asked: str) -> str:
    """What a program needs, in words; `asked` is what its header says that it needs beyond a CPU."""
    imported = set(PACKAGE.findall(text))
    found = ["Python 3.11 or newer", *(called for package, called in PACKAGES.items() if package in imported)]
    found += ["blockwise-kernels-tools"] if OF_THE_TOOLS.search(text) else []
    gpus = {"cuda": "a CUDA GPU", SEVERAL: "two CUDA GPUs or more in one machine"}
    found += [gpus.get(asked, f"a GPU of {asked}")] if asked else []
    words = " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))
    alone = SWITCH in text and "numpy" not in imported
    return words + ("; where there is no CUDA GPU also numpy, for Triton's interpreter" if alone else "")


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


def library_block(wanted: list[Place], own_imports: dict[str, bool], code: Code) -> tuple[list[str], set[str]]:
    """The lines that stand in for the imports from `kernels`: outside imports first, then each module's definitions.

    Beside them the names that they bind. An import of the program's own that comes before them is not repeated.
    """
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
            elif not own_imports.get(line := ast.unparse(node)) and imports.setdefault(name, line) != line:
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
    names = {name for name, line in imports.items() if line not in own_imports}
    return [*block, "", ""], names.union(*(assigned(node) for nodes in definitions.values() for node in nodes))


def assigned(node: ast.stmt) -> set[str]:
    """The names that a definition binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}


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
