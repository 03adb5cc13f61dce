"""What the first button of a Python block copies: what the block shows, with what that needs where the library is installed.

    Blocks().of("course/first-kernel/", text)     [{"program": "first_kernel/launch", "text": ...}, ...], in order of the page

What is shown stands there letter for letter. Of the rest of the program only that is left which the shown lines depend on, in
order. From the library it imports, unless the page shows the definition itself; what other programs define is written in. The
standard library alone.
"""

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from scripts.provenance.follow import Code, CodeError, Place, is_docstring, is_project
from scripts.provenance.inline import import_line, in_order, needed, text_of
from scripts.provenance.names import names_of
from scripts.provenance.needed import Program
from scripts.provenance.programs import MARKER, TITLE, needs_of, snippet_path

BLOCK = re.compile(
    r'^(?P<indent> *)```\{\.python[^}\n]* data-program="(?P<program>[\w/-]+)"[^}\n]*\}\n(?P<body>.*?)^(?P=indent)```$',
    re.MULTILINE | re.DOTALL,
)
INCLUDE = re.compile(r'--8<-- "([^"]+)"')
COMMENT = re.compile(r"#(?!>| [\w-]+: )")  # no printed line, and no line of a program's header such as `# needs: cuda`
RUNS_KERNELS = re.compile(r"^ *(?:from|import) (?:triton|kernels)\b", re.MULTILINE)


class Region(NamedTuple):
    """What a page shows of a file: the lines between two markers, and the statements that these belong to."""

    path: Path
    first: int
    last: int
    statements: list[ast.stmt]


class Blocks:
    """The blocks of one checkout's pages."""

    def __init__(self, code: Code | None = None):
        self.code = code or Code()
        self.texts: dict[Path, list[str]] = {}
        self.programs: dict[Path, Program] = {}

    def of(self, address: str, page: str) -> list[dict[str, str]]:
        """The blocks of a page, by its address and its Markdown."""
        title = TITLE.search(page)
        where = f", {title[1]} ({address})" if title and address else ""
        found = []
        for match in BLOCK.finditer(page):
            name = match["program"]
            text = self.text(name, INCLUDE.findall(match["body"]))
            needs = needed(text, needs_of(name, self.code.root))
            head = f"# Blockwise{where}: a part of {name}.py. MIT license.\n# Needs {needs}.\n"
            found.append({"program": name, "text": head + text})
        return found

    def text(self, program: str, targets: list[str]) -> str:
        """A block of these regions, without the lines at its head."""
        regions = [self.region(target) for target in targets]
        text = Part(self, program, regions).text(switch=False)
        return Part(self, program, regions).text(switch=True) if RUNS_KERNELS.search(text) else text

    def region(self, target: str) -> Region:
        """The region that `file:name` means."""
        file, _, name = target.partition(":")
        path = self.code.root / file
        bounds = [n for n, line in enumerate(self.lines(path), 1) if MARKER.match(line) and line.rstrip().endswith(f":{name}]")]
        if len(bounds) != 2:
            raise CodeError(f"{path}: there is no region {name}")
        first, last = bounds[0] + 1, bounds[1] - 1
        body = self.code.tree(path).body
        return Region(path, first, last, [node for node in body if begin(node) <= last and end(node) >= first])

    def lines(self, path: Path) -> list[str]:
        if path not in self.texts:
            self.texts[path] = path.read_text(encoding="utf-8").splitlines()
        return self.texts[path]

    def imports(self, path: Path) -> dict[str, str]:
        """What a file's top level imports, by the name that is bound: the line that imports it alone."""
        nodes = [node for node in self.code.tree(path).body if isinstance(node, ast.Import | ast.ImportFrom)]
        return {bound_by(alias): import_line(node, alias) for node in nodes for alias in node.names}

    def program(self, path: Path) -> Program:
        if path not in self.programs:
            body = self.code.tree(path).body
            self.programs[path] = Program(body[1:] if is_docstring(body) else body, "\n".join(self.lines(path)))
        return self.programs[path]


class Part:
    """One block in the making."""

    def __init__(self, blocks: Blocks, name: str, regions: list[Region]):
        self.blocks, self.code = blocks, blocks.code
        self.path = snippet_path(name, self.code.root)
        self.own = [region for region in regions if region.path == self.path]
        self.others = [region for region in regions if region.path != self.path]
        self.given = {Place(one.path, name) for one in self.others for node in one.statements for name in names_of(node).binds}
        self.definitions: dict[Path, list[ast.stmt]] = {}  # of other programs, written in
        self.imports: dict[str, str] = {}  # lines for what these and the block take from elsewhere, by the name bound
        self.seen: dict[str, int] = {}  # the program's own imports that stay, by the line where they stand

    def text(self, switch: bool) -> str:
        """With `switch`, the program's lines that turn the interpreter on where there is no GPU."""
        shown = {node for region in self.own for node in region.statements}
        kept, read = self.blocks.program(self.path).needed(shown, switch)
        for region in self.others:
            for node in region.statements:
                self.gather(region.path, names_of(node).reads)
        here = {name for node in shown if from_library(node) for name in names_of(node).binds}
        self.gather(self.path, read & self.code.imports(self.path).keys() - here)
        return self.laid_out(self.own_lines(kept, shown, read))

    # What stands in the place of imports from the project

    def gather(self, path: Path, names: Iterable[str]) -> None:
        """See to it that these names of a file can be used, by imports and by definitions of other programs."""
        taken, written, parts = self.code.imports(path), self.blocks.imports(path), self.code.parts(path)
        for name in sorted(names):
            if name in taken:
                self.take(taken[name], name, written[name])
            elif name in written:
                self.imports[name] = written[name]
            elif name in parts:
                module = ".".join(path.relative_to(self.code.root).with_suffix("").parts).removesuffix(".__init__")
                self.take(Place(path, name), name, f"from {module} import {name}")

    def take(self, place: Place, name: str, line: str) -> None:
        if not place.path.is_relative_to(self.code.root / "snippets"):
            if place not in self.given:
                self.imports[name] = line
            return
        if place in self.given:
            return
        self.given.add(place)
        for node in self.code.parts(place.path)[place.name]:
            if node not in self.definitions.setdefault(place.path, []):
                self.definitions[place.path].append(node)
                self.gather(place.path, names_of(node).reads)

    # The lines

    def own_lines(self, kept: set[ast.stmt], shown: set[ast.stmt], read: set[str]) -> dict[int, str]:
        """What is left of the program, by the number of the line."""
        lines, found = self.blocks.lines(self.path), dict[int, str]()
        for region in self.own:
            found |= {number: lines[number - 1] for number in range(region.first, region.last + 1)}
        for node in sorted(kept, key=begin):
            if node in shown and is_project(node) and not from_library(node):
                raise CodeError(f"{self.path}:{begin(node)}: a block cannot show an import of another program")
            if isinstance(node, ast.Import | ast.ImportFrom):
                mine = [alias for alias in node.names if bound_by(alias) in read and import_line(node, alias) not in self.seen]
                if node in shown or not is_project(node):
                    self.seen |= {import_line(node, alias): begin(node) for alias in (node.names if node in shown else mine)}
                if node not in shown and not is_project(node) and mine:
                    found[begin(node)] = import_line(node, *mine)
            elif node not in shown or isinstance(node, ast.If):  # of which only a part may be shown
                start = begin(node)
                while start > 1 and COMMENT.match(lines[start - 2]):
                    start -= 1
                found |= {number: lines[number - 1] for number in range(start, end(node) + 1)}
        return {number: line for number, line in found.items() if not MARKER.match(line)}

    def laid_out(self, own: dict[int, str]) -> str:
        """All of it, with the blank lines that the program has there."""
        lines, made, previous, place = self.blocks.lines(self.path), list[str](), 0, self.place()
        for number in [*sorted(own), len(lines) + 1]:
            if previous < place <= number:
                made += self.taken({line for line, seen in self.seen.items() if seen < place})
            if number in own:
                made += [*blank_lines(lines[previous : number - 1]), own[number]]
            previous = number
        return re.sub(r"\n{4,}", "\n\n\n", "\n".join(made)).strip("\n") + "\n"

    def place(self) -> int:
        """The line at which the program imports from the project, or else where its imports end."""
        body = self.blocks.program(self.path).body
        imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
        project = [begin(node) for node in imports if is_project(node)]
        place = min(project, default=max(map(end, imports), default=0) + 1)
        for region in self.own:  # what is shown stays in one piece
            if region.first <= place <= region.last:
                return region.last + 1 if set(region.statements) <= set(imports) else region.first
        return place

    def taken(self, earlier: set[str]) -> list[str]:
        """What stands in the place of the imports from the project."""
        lines = sorted(set(self.imports.values()) - earlier, key=lambda line: (line.startswith("from"), line))
        library = [line for line in lines if re.match(r"(?:from|import) kernels\b", line)]
        outside = [line for line in lines if line not in library]
        made = [part for group in (outside, together(library)) if group for part in ("", *group)]
        for path in in_order([*self.definitions], self.code):
            for node in sorted(self.definitions[path], key=begin):
                made += ["", "", *text_of(node, self.blocks.lines(path))]
        for region in self.others:
            shown = self.blocks.lines(region.path)[region.first - 1 : region.last]
            made += ["", "", *(line for line in shown if not MARKER.match(line))]
        return [*made, *(["", ""] if self.definitions or self.others else [])]


def begin(node: ast.stmt) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])


def end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def bound_by(alias: ast.alias) -> str:
    return (alias.asname or alias.name).partition(".")[0]


def from_library(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "kernels"


def blank_lines(between: list[str]) -> list[str]:
    """Those that the program has directly above a line, of those that are left out between it and the one before; or one."""
    found, between = 0, [line.strip() for line in between if not MARKER.match(line)]
    while found < len(between) and not between[-1 - found]:
        found += 1
    return [""] * (found or "" in between)


def together(imports: list[str]) -> list[str]:
    """Imports of one name each, those from one module as one."""
    found: dict[str, list[str]] = {}
    for line in imports:
        module, _, name = line.rpartition("import ")
        found.setdefault(module, []).append(name)
    return [f"{module}import {', '.join(names)}" for module, names in found.items()]
