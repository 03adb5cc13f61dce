"""What *Numbers you can trust* says of Compute Sanitizer: it found what was planted, and in the library nothing."""

import ast
import re

import pytest

from scripts.launches import SPECIMENS
from scripts.provenance import records
from scripts.provenance.environment import primary_machine
from tests.records.freshness import waiting

WATCHED = ["trust/odd_rows", "trust/odd_shapes", "trust/odd_products", "trust/odd_attention", "trust/odd_fused"]
WATCHED = [name for name in WATCHED if not waiting(f"{primary_machine()}/{name}")]
GLUON = {"matmul_gluon_kernel", "attention_gluon_kernel", "attention_gluon_backward_kernel"}
PARTING = [("odd_gluon", "matmul/gluon"), ("odd_attention_gluon", "attention/gluon")]
PARTING += [("odd_attention_gluon", "attention/gluon_backward")]
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


def record(name: str) -> dict:
    return records.read(records.record_path(primary_machine(), "program", name))


def errors(name: str) -> dict[str, int]:
    return {entry["tool"]: entry["errors"] for entry in record(name)["sanitizers"]}


@pytest.mark.parametrize(("name", "tool"), [("trust/planted_store", "memcheck"), ("trust/planted_race", "racecheck")])
def test_what_was_planted_is_found(name, tool):
    assert errors(name)[tool] > 0


# A row of logits is read with the padding behind it, which is replaced before use: whole blocks need no mask.
PADDED = {("trust/odd_fused", "initcheck"): "linear_cross_entropy_kernel"}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", WATCHED)
def test_nothing_is_found_in_the_library(name, tool):
    if kernel := PADDED.get((name, tool)):
        (found,) = (entry["output"] for entry in record(name)["sanitizers"] if entry["tool"] == tool)
        places = [line for line in found if " at " in line]
        assert places and all(f" at {kernel}+" in line for line in places)
    else:
        assert errors(name)[tool] == 0


def test_every_kernel_of_the_library_was_watched():
    watched = (*WATCHED, "trust/odd_attention_gluon")
    launched = {line for name in watched for line in record(name)["output"] if line.endswith("_kernel")} - GLUON
    library = {specimen.function for specimen in SPECIMENS if specimen.path.startswith("kernels/")}
    assert launched == {name for name in library if not waiting(f"{primary_machine()}/compiled/{name}")}


@pytest.mark.parametrize("tool", ["memcheck", "initcheck", "synccheck"])
@pytest.mark.parametrize("name", ["trust/odd_gluon", "trust/odd_attention_gluon"])
def test_nothing_is_found_in_the_kernels_in_gluon(name, tool):
    assert errors(name)[tool] == 0


@pytest.mark.parametrize(("name", "path"), PARTING)
def test_racecheck_names_only_the_line_where_warps_are_parted(name, path):
    """As it does in a kernel whose warps share nothing, where a barrier stands between the two accesses."""
    kernels = ast.parse((records.ROOT / f"kernels/{path}.py").read_text("utf-8")).body
    kernel = next(node for node in kernels if isinstance(node, ast.FunctionDef) and "warp_specialize(" in ast.unparse(node))
    found = {entry["tool"]: entry["output"] for entry in record(f"trust/{name}")["sanitizers"]}["racecheck"]
    named = [re.search(r"at (\w+)\S* in \w+\.py:(\d+)", line) for line in found if "access at" in line]
    assert named and all(named) and {match[1] for match in named if match} <= GLUON
    lines = {int(match[2]) for match in named if match and match[1] == kernel.name}
    # The kernel's own line and where it parts its warps, in whichever file it stood when it ran.
    parts = [node for node in ast.walk(kernel) if isinstance(node, ast.If | ast.Expr) and "specialize(" in ast.unparse(node)]
    places = {0} | {node.lineno - kernel.lineno for node in parts}
    assert len(places) > 1 and lines
    assert any(all(line - shift in places for line in lines) for shift in {line - place for line in lines for place in places})
    assert errors("trust/parted")["racecheck"] > 0
    assert record("trust/parted")["output"][-1].startswith("barrier.sync")


def test_the_false_alarm_that_the_page_tells_of_is_false():
    assert errors("trust/unseen_store")["initcheck"] > 0
    assert record("trust/unseen_store")["output"] == ["every element is written, and right"]
