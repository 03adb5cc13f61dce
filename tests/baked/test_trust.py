"""What *Numbers you can trust* says of Compute Sanitizer: it found what was planted, and in the library nothing."""

import pytest

from scripts import prepare, records
from scripts.specimens import SPECIMENS

WATCHED = ("trust/odd_rows", "trust/odd_shapes", "trust/odd_products")
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


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


def test_every_kernel_of_the_library_was_watched():
    launched = {line for name in WATCHED for line in record(name)["output"] if line.endswith("_kernel")}
    assert launched == {specimen.function for specimen in SPECIMENS if specimen.path.startswith("kernels/")}


def test_the_false_alarm_that_the_page_tells_of_is_false():
    assert errors("trust/unseen_store")["initcheck"] > 0
    assert record("trust/unseen_store")["output"] == ["every element is written, and right"]
