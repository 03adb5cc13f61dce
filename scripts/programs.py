"""Published programs: a snippet with its imports from `kernels` written in, so that one file runs alone.

    inline("first_kernel/launch")  ->  the text of docs/programs/first_kernel/launch.py

Only the definitions that the snippet needs are written in, letter for letter as they stand in the library.
The standard library alone.
"""

import ast
import re
import symtable
from pathlib import Path

from scripts.records import ROOT, RecordError, module_of

ONE = "one published program cannot hold both"
MARKER = re.compile(r"^\s*# --8<-- \[(start|end):[\w.-]+\]\s*$")


def snippet_names(root: Path = ROOT) -> list[str]:
    """Every program under snippets/, as `<chapter>/<name>`."""
    paths = sorted((root / "snippets").rglob("*.py"))
    return [path.relative_to(root / "snippets").with_suffix("").as_posix() for path in paths if path.name != "__init__.py"]


def needs_of(name: str, root: Path = ROOT) -> str:
    """What the program needs beyond a CPU, from its header: `cuda`, `sm_90`, or nothing."""
    return header(name, "needs", root)


def header(name: str, key: str, root: Path = ROOT) -> str:
    """The value of a header comment such as `# needs: cuda`, or nothing."""
    match = re.search(rf"^# {key}: (.+)$", snippet_path(name, root).read_text(encoding="utf-8"), re.MULTILINE)
    return match.group(1).strip() if match else ""


def snippet_path(name: str, root: Path = ROOT) -> Path:
    return root / "snippets" / f"{name}.py"


class Module:
    """A library module, cut into its top-level definitions and imports."""

    def __init__(self, path: Path, root: Path):
        self.path, self.root = path, root
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.definitions: dict[str, ast.stmt] = {}
        self.siblings: dict[str, Path] = {}
        self.imports: dict[str, str] = {}
        for node in ast.parse("\n".join(self.lines), str(path)).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                self.definitions[node.name] = node
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    stored = [part for part in ast.walk(target) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
                    self.definitions |= {part.id: node for part in stored}
            elif isinstance(node, ast.ImportFrom) and is_library(node):
                refuse_unfollowed(node, path)
                for alias in node.names:
                    self.siblings[alias.name] = module_of(node.module or "", alias.name, root)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    self.imports[alias.asname or alias.name.split(".")[0]] = import_line(node, alias)

    def text(self, name: str) -> str:
        """The definition's lines as they stand, with the comment directly above it and without region markers."""
        node = self.definitions[name]
        decorators = getattr(node, "decorator_list", [])
        start = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
        while start > 0 and self.lines[start - 1].startswith("#"):
            start -= 1
        return "\n".join(line for line in self.lines[start : node.end_lineno] if not MARKER.match(line)).strip("\n")

    def names_used(self, name: str) -> set[str]:
        return {node.id for node in ast.walk(self.definitions[name]) if isinstance(node, ast.Name)}


def import_line(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    return ast.unparse(type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]}))


def inline(name: str, root: Path = ROOT) -> str:
    """The self-contained text of a snippet."""
    path = snippet_path(name, root)
    lines = path.read_text(encoding="utf-8").splitlines()
    tree = ast.parse("\n".join(lines), str(path))
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
    if any(is_library(node) for node in ast.walk(ast.parse(text))):
        raise RecordError(f"{path}: its code imports from kernels elsewhere than at the top level, or not by name")
    return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n") + "\n"


def is_library(node: ast.AST) -> bool:
    """Whether a statement imports something of the library."""
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").split(".")[0] == "kernels"
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
    modules: dict[Path, Module] = {}
    needed: dict[Path, set[str]] = {}
    order: list[Path] = []
    imports: dict[str, str] = {}

    def take(path: Path, name: str) -> None:
        if path not in modules:
            modules[path] = Module(path, root)
        module = modules[path]
        if name not in module.definitions:
            raise RecordError(f"{path}: defines no {name}")
        if name in needed.setdefault(path, set()):
            return
        needed[path].add(name)
        for used in sorted(module.names_used(name)):
            if used in module.siblings:
                take(module.siblings[used], used)
            elif used in module.definitions:
                take(path, used)
            elif (line := module.imports.get(used, "")) and line not in own_imports and imports.setdefault(used, line) != line:
                raise RecordError(f"{path}: {used} is imported otherwise elsewhere: {ONE}")

    def place(path: Path) -> None:
        """Put a module after every module that it takes something from."""
        for used in sorted(set(modules[path].siblings.values())):
            if used in modules and used not in order:
                place(used)
        if path not in order:
            order.append(path)

    for path, name in wanted:
        take(path, name)
    for path in sorted(modules):
        place(path)
    owners: dict[str, Path] = {}
    for path, names in needed.items():
        for name in names:
            if owners.setdefault(name, path) != path:
                raise RecordError(f"{name} is defined both in {owners[name]} and in {path}: {ONE}")
            if name in imports:
                raise RecordError(f"{path}: {name} is defined here and imported elsewhere: {ONE}")
    block = [*sorted(imports.values(), key=lambda line: (line.startswith("from"), line))]
    for path in order:
        module = modules[path]
        written: list[ast.stmt] = []
        for name in module.definitions:
            if name in needed[path] and module.definitions[name] not in written:
                written.append(module.definitions[name])
                first = len(written) == 1
                is_value = isinstance(module.definitions[name], ast.Assign | ast.AnnAssign)
                block += ["", ""] if not (is_value and not first and block and not block[-1].startswith((" ", ")"))) else []
                block += [f"# From {path.relative_to(root).as_posix()}"] if first else []
                block += module.text(name).splitlines()
    return [*block, "", ""]
