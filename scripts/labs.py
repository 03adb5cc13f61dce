"""Run a lab, solved.

    python scripts/labs.py --run elementwise     run the solved lab, print what its cells print; status 1 where a check fails
    ... --run elementwise --keep FILE            also write what each cell printed to a file, for the bake
"""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.provenance.labs import Cell, cells_of, names, statements, version


@dataclass
class Ran:
    """What a run of a lab left behind: each code cell's printed text, by its place, and the checks' verdicts."""

    printed: dict[int, str] = field(default_factory=dict)
    verdicts: list[Any] = field(default_factory=list)


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


def kept(cells: list[Cell], ran: Ran) -> list[dict[str, Any]]:
    """What a record keeps of a run: what each code cell printed, and how many statements the cell had.

    The hash of a lab's code says which statements there are, and the counts say how they are parted into cells, which
    comments do.
    """
    return [{"statements": statements(cells[number]), "output": printed.splitlines()} for number, printed in ran.printed.items()]


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
