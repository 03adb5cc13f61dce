"""The compiler's figures that pages quote: one record a kernel, for today's specimens, within today's bounds."""

import json

import pytest

from scripts.launches import SPECIMENS
from scripts.provenance import records, sources
from scripts.provenance.follow import Code
from tests.records.freshness import waiting

PRIMARY = "nvidia-h200"
FUNCTIONS = list(dict.fromkeys(specimen.function for specimen in SPECIMENS))
KERNELS = [name for name in FUNCTIONS if not waiting(f"{PRIMARY}/compiled/{name}")]
CODE = Code()


def record_of(name: str) -> dict:
    return records.read(records.record_path(PRIMARY, "compiled", name))


@pytest.mark.parametrize("name", KERNELS)
def test_record_is_of_this_code(name):
    assert sources.is_fresh(record_of(name), CODE), (
        f"older than its code: python scripts/bake.py --only 'compiled/{name}' on {PRIMARY} renews it"
    )


@pytest.mark.parametrize("name", KERNELS)
def test_record_has_the_specimens_of_today(name):
    found = {entry["specimen"]: entry["launch"] for entry in record_of(name)["specimens"]}
    expected = {specimen.name: specimen.launch for specimen in SPECIMENS if specimen.function == name}
    assert found == expected, f"python scripts/bake.py --only 'compiled/{name}' on {PRIMARY} renews it"


@pytest.mark.parametrize("name", KERNELS)
def test_record_keeps_the_bounds(name):
    bounds = {specimen.name: specimen for specimen in SPECIMENS}
    for entry in record_of(name)["specimens"]:
        bound = bounds[entry["specimen"]]
        assert entry["registers"] <= bound.registers and entry["shared_bytes"] <= bound.shared
        assert entry["spill_bytes"] <= bound.spills


@pytest.mark.parametrize("name", KERNELS)
def test_record_holds_no_path(name):
    assert str(records.ROOT) not in json.dumps(record_of(name)) and "/home/" not in json.dumps(record_of(name))
