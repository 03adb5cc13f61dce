"""A lab's one source: a Python file of cells in percent format, as Jupytext reads it. The standard library alone.

Cells have tags: `setup`, `exercise`, `hint`, `check`. In an exercise, what stands between `# [solution]` and `# [/solution]` is
left out of the learner's notebook; the comment `# YOUR TURN: ...` above it stays. A hint becomes a fold, and after each check
comes the exercise's solution, folded too.
"""

import ast
import re
from dataclasses import dataclass
from typing import Any

from scripts import ROOT

SOURCES = ROOT / "docs" / "labs"
# Where a notebook sees to it that the library can be imported; a bake has no need of it.
INSTALL = "# [install]\n"
HEADER = re.compile(r'^# %%(?P<markdown> \[markdown\])?(?: tags=\["(?P<tag>\w+)"\])?$')
TAGS = {"", "setup", "exercise", "hint", "check"}
SOLUTION = re.compile(r"^ *# \[solution\]\n(.*?)^ *# \[/solution\]\n", re.MULTILINE | re.DOTALL)


class LabError(Exception):
    """A source that is no lab."""


@dataclass
class Cell:
    """One cell of a source: Markdown or code, its tag, and its text."""

    markdown: bool
    tag: str
    text: str


def names() -> list[str]:
    """Every lab, by the name of its source."""
    return sorted(path.stem for path in SOURCES.glob("*.py"))


def source(name: str) -> str:
    """A lab's source, as records name files of code."""
    return (SOURCES / f"{name}.py").relative_to(ROOT).as_posix()


def cells_of(name: str) -> list[Cell]:
    """A lab's cells, as its source has them."""
    cells: list[tuple[re.Match, list[str]]] = []
    for number, line in enumerate((SOURCES / f"{name}.py").read_text(encoding="utf-8").splitlines(), start=1):
        header = HEADER.match(line)
        if header:
            cells.append((header, []))
        elif line.startswith("# %%") or not cells:
            raise LabError(f"{name}.py:{number}: expected `# %%`, `# %% [markdown]`, either with tags=[...], got {line!r}")
        else:
            cells[-1][1].append(line)
    made = [Cell(bool(header["markdown"]), header["tag"] or "", "\n".join(lines).strip("\n")) for header, lines in cells]
    for cell in made:
        if cell.tag not in TAGS:
            raise LabError(f"{name}.py: no such tag: {cell.tag}")
        if cell.markdown:
            cell.text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in cell.text.splitlines())
    return made


def unsolved(text: str) -> str:
    """An exercise as the learner gets it."""
    return SOLUTION.sub("", text + "\n").rstrip("\n")


def solved(text: str) -> str:
    """An exercise with its solution; what was asked for becomes a comment."""
    text = re.sub(r"^ *# \[/?solution\]\n", "", text + "\n", flags=re.MULTILINE)
    return re.sub(r"# YOUR TURN: (\w)", lambda match: "# " + match[1].upper(), text).rstrip("\n")


def fold(title: str, text: str) -> str:
    return f'<details class="note" markdown="1">\n<summary>{title}</summary>\n\n{text}\n\n</details>'


def version(cells: list[Cell], is_solved: bool) -> list[Cell]:
    """The learner's cells or the solved ones."""
    made, exercise = [], ""
    for cell in cells:
        text = cell.text
        if cell.tag == "exercise":
            exercise = solved(text)
            text = exercise if is_solved else unsolved(text)
        elif cell.tag == "hint":
            text = fold("Hint", text)
        made.append(Cell(cell.markdown, cell.tag, text))
        if cell.tag == "check" and not is_solved:
            made.append(Cell(True, "solution", fold("Solution", f"```python\n{exercise}\n```")))
    return made


def statements(cell: Cell) -> int:
    return len(ast.parse(cell.text).body)


def is_of_these_cells(record: dict[str, Any]) -> bool:
    """Whether a lab's record has an output for each code cell that the lab has today."""
    counts = [statements(cell) for cell in version(cells_of(record["name"]), True) if not cell.markdown]
    return [cell["statements"] for cell in record["cells"]] == counts
