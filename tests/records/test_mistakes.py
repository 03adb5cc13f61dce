"""The table of *Common mistakes*: every cell against what the programs printed, and what the sanitizer said of them."""

import re

import pytest

from scripts.provenance import records
from scripts.provenance.environment import primary_machine

PAGE = records.ROOT / "docs" / "course" / "mistakes.md"
COMPILER, INTERPRETER, SANITIZER = "compiler", "interpreter", "sanitizer"
HANDY, AWKWARD, FILLED = "handy", "awkward", "filled"
CLEAN = r"ERROR SUMMARY: 0 errors"
RAN = r""  # it was compiled, and ran
ALIKE, UNLIKE = "prints the same on both", "prints something else on each"
UNWRITTEN = r"^1000 sum_wrong_kernel \[[\d., ]+\] False"  # every number of the output is one
# For each cell: what it says, the program, and the line of its output, or of the sanitizer's, that says so.
EVIDENCE = {
    ("No mask", COMPILER): ("misses", "mistakes/missing_mask", RAN),
    ("No mask", INTERPRETER): ("as the GPU", "mistakes/missing_mask", ALIKE),
    ("No mask", SANITIZER): ("only beyond an allocation", "masking/neighbor", r"Invalid __global__ read of size 16 bytes"),
    ("No mask", HANDY): ("misses", "mistakes/missing_mask", r"^1024 sum_wrong_kernel .* True"),
    ("No mask", AWKWARD): ("catches", "mistakes/missing_mask", r"^1000 sum_wrong_kernel .* False"),
    ("No mask", FILLED): ("misses", "mistakes/missing_mask", UNWRITTEN),
    ("No `other`", COMPILER): ("misses", "mistakes/missing_other", RAN),
    ("No `other`", INTERPRETER): ("as the GPU", "mistakes/missing_other", ALIKE),
    ("No `other`", SANITIZER): ("misses", "mistakes/missing_other", CLEAN),
    ("No `other`", HANDY): ("misses", "mistakes/missing_other", r"^128 of -3, softmax_wrong_kernel: sum 1.000"),
    ("No `other`", AWKWARD): ("below zero", "mistakes/missing_other", r"^100 of -3, softmax_wrong.* sum 0\.\d+"),
    ("No `other`", FILLED): ("misses", "mistakes/missing_other", r"^100 of -3, softmax_wrong.* sum 0\.\d+"),
    ("Grid rounded down", COMPILER): ("misses", "mistakes/short_grid", RAN),
    ("Grid rounded down", INTERPRETER): ("as the GPU", "mistakes/short_grid", ALIKE),
    ("Grid rounded down", SANITIZER): ("misses", "mistakes/short_grid", CLEAN),
    ("Grid rounded down", HANDY): ("misses", "mistakes/short_grid", r"^96 wrong: equal True"),
    ("Grid rounded down", AWKWARD): ("by luck", "mistakes/short_grid", r"^100 wrong: equal True"),
    ("Grid rounded down", FILLED): ("catches", "mistakes/short_grid", r"^100 wrong: .* never written [1-9]"),
    ("Diagonal for a tile", COMPILER): ("misses", "mistakes/dimensions", RAN),
    ("Diagonal for a tile", INTERPRETER): ("as the GPU", "mistakes/dimensions", ALIKE),
    ("Diagonal for a tile", SANITIZER): ("misses", "mistakes/dimensions", CLEAN),
    ("Diagonal for a tile", AWKWARD): ("catches", "mistakes/dimensions", r"^diagonal: .* equal False"),
    ("Diagonal for a tile", FILLED): ("catches", "mistakes/dimensions", r"^diagonal: wrote 16 of 256"),
    ("Strides swapped", COMPILER): ("misses", "mistakes/dimensions", RAN),
    ("Strides swapped", INTERPRETER): ("as the GPU", "mistakes/dimensions", ALIKE),
    ("Strides swapped", SANITIZER): ("misses", "mistakes/dimensions", CLEAN),
    ("Strides swapped", AWKWARD): ("catches", "mistakes/dimensions", r"^swapped: .* equal False"),
    ("Strides swapped", FILLED): ("misses", "mistakes/dimensions", r"^swapped: wrote 256 of 256"),
    ("Not contiguous", COMPILER): ("misses", "mistakes/strides", RAN),
    ("Not contiguous", INTERPRETER): ("as the GPU", "mistakes/strides", ALIKE),
    ("Not contiguous", SANITIZER): ("misses", "mistakes/strides", CLEAN),
    ("Not contiguous", HANDY): ("misses", "mistakes/strides", r"^whole, as it is: equal True"),
    ("Not contiguous", AWKWARD): ("catches", "mistakes/strides", r"^transposed, as it is: equal False"),
    ("Not contiguous", FILLED): ("misses", "mistakes/strides", r"^transposed, as it is: .* never written 0"),
    ("Offset past 2³¹", COMPILER): ("misses", "mistakes/overflow_read", RAN),
    ("Offset past 2³¹", INTERPRETER): ("as the GPU", "mistakes/overflow", ALIKE),
    ("Offset past 2³¹", SANITIZER): ("only beyond an allocation", "mistakes/overflow_read", r"before the nearest allocation"),
    ("Offset past 2³¹", HANDY): ("misses", "mistakes/overflow", r"^row  4,000, 64 bits False: offset 20,000,000"),
    ("Offset past 2³¹", AWKWARD): ("catches", "mistakes/overflow_read", r"^64 bits False: [1-9]\d* rows wrong"),
    ("`and` for `&`", COMPILER): ("warns", "mistakes/and_masks", r"the compiler: Logical operators"),
    ("`and` for `&`", INTERPRETER): ("differs", "mistakes/and_masks", UNLIKE),
    ("No wait before the clock stops", COMPILER): ("misses", "mistakes/timing", RAN),
    ("No wait before the clock stops", HANDY): ("misses", "mistakes/timing", r"^same as PyTorch: True"),
    ("16-bit sum", COMPILER): ("misses", "mistakes/half_sums", RAN),
    ("16-bit sum", INTERPRETER): ("as the GPU", "mistakes/half_sums", ALIKE),
    ("16-bit sum", SANITIZER): ("misses", "mistakes/half_sums", CLEAN),
    ("16-bit sum", HANDY): ("misses", "mistakes/half_sums", r"^4096 times 1.0, in float32 False: 4096.0"),
    ("16-bit sum", AWKWARD): ("catches", "mistakes/half_sums", r"^4096 times 32.0, in float32 False: inf"),
    ("16-bit sum", FILLED): ("misses", "mistakes/half_sums", r"^4096 times 32.0, in float32 False: inf"),
}
MACHINES = {"cpu", primary_machine()}


def cells() -> dict[tuple[str, str], str]:
    """What the page's first table says, without its empty fields."""
    rows = [line.strip("| ").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| [")]
    columns = (COMPILER, INTERPRETER, SANITIZER, HANDY, AWKWARD, FILLED)
    found = {}
    for name, *row in rows:
        label = re.fullmatch(r"\[(.+)\]\((?:\.\./deeper/mistakes-\w+\.md)?#[\w-]+\)", name.strip())
        assert label, name
        found |= {(label[1], column): cell.strip() for column, cell in zip(columns, row, strict=False) if cell.strip()}
    return found


def said(machine: str, name: str, sanitizer: bool) -> list[str] | None:
    """The lines that a program, or the sanitizer about it, printed on a machine; None where it does not run there."""
    path = records.record_path(machine, "program", name)
    if not path.exists():
        return None
    record = records.read(path)
    return record.get("sanitizer", {}).get("output") if sanitizer else record["output"]


def test_the_table_says_what_is_backed_and_nothing_else():
    assert cells() == {place: says for place, (says, _, _) in EVIDENCE.items()}


@pytest.mark.parametrize("place", EVIDENCE, ids=lambda place: f"{place[0]}, {place[1]}")
def test_every_cell_is_what_came_out(place: tuple[str, str]):
    _, name, pattern = EVIDENCE[place]
    found = {machine: lines for machine in MACHINES if (lines := said(machine, name, place[1] == SANITIZER)) is not None}
    assert primary_machine() in found, f"{name} has no record of a GPU: python scripts/bake.py --only '{name}'"
    if pattern in (ALIKE, UNLIKE):
        results = {machine: [line for line in lines if "interpreter" not in line] for machine, lines in found.items()}
        assert set(results) == MACHINES
        assert (results["cpu"] == results[primary_machine()]) == (pattern == ALIKE)
        return
    for machine, lines in found.items():
        assert any(re.search(pattern, line) for line in lines), (machine, lines)
