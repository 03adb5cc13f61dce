"""Read a lab's one source, and run the lab.

    python scripts/labs.py --run elementwise     run the solved lab, print what its cells print; status 1 where a check fails
    ... --run elementwise --keep FILE            also write what each cell printed to a file, for the bake

A source is a Python file of cells in percent format, as Jupytext reads it, with tags: `setup`, `exercise`, `hint`, `check`.
In an exercise, what stands between `# [solution]` and `# [/solution]` is left out of the learner's notebook; the comment
`# YOUR TURN: ...` above it stays. A hint becomes a fold, and after each check comes the exercise's solution, folded too.
The standard library alone, except for what a lab imports when it runs.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.records import ROOT

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


@dataclass
class Ran:
    """What a run of a lab left behind: each code cell's printed text, by its place, and the checks' verdicts."""

    printed: dict[int, str] = field(default_factory=dict)
    verdicts: list[Any] = field(default_factory=list)


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


@contextlib.contextmanager
def listening(verdicts: list[Any]) -> Iterator[None]:
    """Keep the verdict of every check that runs meanwhile. A lab's own first cell would come too late for the import here."""
    import torch

    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"
    import kernels.labs

    check = kernels.labs.check

    def kept(*arguments: Any, **named: Any) -> Any:
        verdicts.append(check(*arguments, **named))
        return verdicts[-1]

    kernels.labs.check = kept
    try:
        yield
    finally:
        kernels.labs.check = check


def run(cells: list[Cell]) -> Ran:
    """Run the code cells one after another in one namespace, each from a file of its own, where Triton finds its source."""
    ran, namespace = Ran(), {"__name__": "lab"}
    with tempfile.TemporaryDirectory() as folder, listening(ran.verdicts):
        for number, cell in enumerate(cells):
            if not cell.markdown:
                path = Path(folder) / f"cell_{number}.py"
                path.write_text(cell.text + "\n", encoding="utf-8")
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    exec(compile(cell.text + "\n", str(path), "exec"), namespace)
                ran.printed[number] = printed.getvalue()
    return ran


def statements(cell: Cell) -> int:
    return len(ast.parse(cell.text).body)


def kept(cells: list[Cell], ran: Ran) -> list[dict[str, Any]]:
    """What a record keeps of a run: what each code cell printed, and how many statements the cell had.

    The hash of a lab's code says which statements there are, and the counts say how they are parted into cells, which
    comments do.
    """
    return [{"statements": statements(cells[number]), "output": printed.splitlines()} for number, printed in ran.printed.items()]


def is_of_these_cells(record: dict[str, Any]) -> bool:
    """Whether a lab's record has an output for each code cell that the lab has today."""
    counts = [statements(cell) for cell in version(cells_of(record["name"]), True) if not cell.markdown]
    return [cell["statements"] for cell in record["cells"]] == counts


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", metavar="NAME", choices=names(), required=True, help="run the solved lab")
    parser.add_argument("--keep", metavar="FILE", type=Path, help="write what each cell printed to a file")
    arguments = parser.parse_args()
    cells = version(cells_of(arguments.run), True)
    ran = run(cells)
    print("".join(ran.printed.values()), end="")
    if arguments.keep:
        arguments.keep.write_text(json.dumps(kept(cells, ran), ensure_ascii=False), encoding="utf-8")
    return 0 if ran.verdicts and all(ran.verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
