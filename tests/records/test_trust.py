"""What *Numbers you can trust* says of Compute Sanitizer: it found what was planted, and in the library nothing."""

import ast
import re

import pytest

from scripts.launches import SPECIMENS
from scripts.provenance import records
from scripts.provenance.environment import primary_machine

WATCHED = ("trust/odd_rows", "trust/odd_shapes", "trust/odd_products", "trust/odd_attention")
GLUON = "matmul_gluon_kernel"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


def record(name: str) -> dict:
    return records.read(records.record_path(primary_machine(), "program", name))


def errors(name: str) -> dict[str, int]:
    return {entry["tool"]: entry["errors"] for entry in record(name)["sanitizers"]}


@pytest.mark.parametrize(("name", "tool"), [("trust/planted_store", "memcheck"), ("trust/planted_race", "racecheck")])
def test_what_was_planted_is_found(name, tool):
    assert errors(name)[tool] > 0


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", WATCHED)
def test_nothing_is_found_in_the_library(name, tool):
    assert errors(name)[tool] == 0


def test_every_kernel_of_the_library_was_watched():
    launched = {line for name in WATCHED for line in record(name)["output"] if line.endswith("_kernel")}
    library = [specimen for specimen in SPECIMENS if specimen.path.startswith("kernels/")]
    assert launched == {specimen.function for specimen in library}


@pytest.mark.parametrize("tool", ["memcheck", "initcheck", "synccheck"])
def test_nothing_is_found_in_the_kernel_in_gluon(tool):
    assert errors("trust/odd_gluon")[tool] == 0


def test_racecheck_names_only_the_line_where_warps_are_parted():
    """As it does in a kernel whose warps share nothing, where a barrier stands between the two accesses."""
    path = records.ROOT / "kernels/matmul/gluon.py"
    kernel = next(node for node in ast.parse(path.read_text("utf-8")).body if getattr(node, "name", "") == GLUON)
    found = {entry["tool"]: entry["output"] for entry in record("trust/odd_gluon")["sanitizers"]}["racecheck"]
    named = [re.search(r"at (\w+)\S* in \w+\.py:(\d+)", line) for line in found if "access at" in line]
    assert named and all(match and match[1] == GLUON for match in named)
    lines = sorted({int(match[2]) for match in named if match})
    parting = next(node.lineno for node in kernel.body if "warp_specialize" in ast.unparse(node))
    # The kernel's own line and that one, in whichever file it stood when it ran.
    assert len(lines) == 1 or [line - lines[0] for line in lines] == [0, parting - kernel.lineno]
    assert errors("trust/parted")["racecheck"] > 0
    assert record("trust/parted")["output"][-1].startswith("barrier.sync")


def test_the_false_alarm_that_the_page_tells_of_is_false():
    assert errors("trust/unseen_store")["initcheck"] > 0
    assert record("trust/unseen_store")["output"] == ["every element is written, and right"]
