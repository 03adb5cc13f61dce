"""What *Numbers you can trust* says of Compute Sanitizer: it found what was planted, and in the library nothing."""

import pytest

from scripts import prepare, records
from scripts.specimens import SPECIMENS

PAGE = records.ROOT / "docs" / "course" / "trust.md"
WATCHED = ("trust/odd_rows", "trust/odd_shapes")
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
# What the page tells as open. As soon as a bake watches them, a test below fails: then both have to go.
NOT_WATCHED = {"softmax_long_backward_kernel", "cross_entropy_long_kernel"}


def record(name: str) -> dict:
    return records.read(records.record_path(prepare.primary_machine(), "program", name))


def errors(name: str) -> dict[str, int]:
    return {entry["tool"]: entry["errors"] for entry in record(name)["sanitizers"]}


@pytest.mark.parametrize(("name", "tool"), [("trust/planted_store", "memcheck"), ("trust/planted_race", "racecheck")])
def test_what_was_planted_is_found(name, tool):
    assert errors(name)[tool] > 0


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", WATCHED)
def test_nothing_is_found_in_the_library(name, tool):
    assert errors(name)[tool] == 0


def test_every_kernel_of_the_library_was_watched_but_those_that_the_page_names():
    launched = {line for name in WATCHED for line in record(name)["output"] if line.endswith("_kernel")}
    assert launched == {specimen.function for specimen in SPECIMENS if specimen.path.startswith("kernels/")} - NOT_WATCHED


@pytest.mark.parametrize("kernel", sorted(NOT_WATCHED))
def test_the_page_names_what_is_open(kernel):
    assert f"`{kernel}`" in PAGE.read_text(encoding="utf-8")
