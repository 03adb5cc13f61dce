"""The functions of the project that a compiled kernel is made of, as one listing whose lines have numbers."""

import ast
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts.reading.places import Chain

ROOMS = ("kernels", "snippets")


class Listing:
    """Grows by the functions that places name; the kernel comes first. Line 1 is its first line."""

    def __init__(self, kernel: str):
        self.parts: list[dict[str, Any]] = []
        self.starts: dict[tuple[str, str], tuple[int, int]] = {}  # (file, name): number and line of its first line
        self.count = 0
        path, _, name = kernel.partition(":")
        self.add(path, next(node for node in functions(path) if node.name == name))

    def add(self, path: str, node: ast.FunctionDef) -> None:
        if (path, node.name) in self.starts:
            return
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        lines = source(path)[first - 1 : node.end_lineno]
        self.starts[path, node.name] = (self.count + 1, first)
        self.parts.append({"name": node.name, "file": path, "lines": textwrap.dedent("\n".join(lines)).split("\n")})
        self.count += len(lines)

    def line_of(self, chain: Chain) -> int:
        """The number of the innermost line of the project in a chain of places; 0 if there is none."""
        for file, line in chain:
            try:
                path = Path(file).relative_to(ROOT).as_posix()
            except ValueError:
                continue
            if not path.startswith(ROOMS):
                continue
            around = [node for node in functions(path) if node.lineno <= line <= (node.end_lineno or 0)]
            if around:
                self.add(path, around[-1])
                number, first = self.starts[path, around[-1].name]
                return number + line - first
        return 0


@cache
def source(path: str) -> list[str]:
    return (ROOT / path).read_text(encoding="utf-8").split("\n")


@cache
def functions(path: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse("\n".join(source(path)))) if isinstance(node, ast.FunctionDef)]
