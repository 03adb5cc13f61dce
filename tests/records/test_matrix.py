"""The compatibility page's records: one a pinned version of Triton, of this code, and green."""

import pytest

from scripts import matrix
from scripts.launches import SPECIMENS
from scripts.provenance import records

RENEW = "make test-matrix renews it"


@pytest.mark.parametrize("part", matrix.kept())
def test_record_is_of_this_code_and_green(part):
    found = records.read(records.record_path("cpu", "matrix", part))
    assert not matrix.is_due(part), f"older than its code: {RENEW}"
    assert found["environment"]["triton"] == part.split("/")[0]
    assert found["tests"]["passed"] > 40 and all(target["specimens"] for target in found["targets"].values())
    assert matrix.is_green(found), f"{matrix.summary(found)}: {RENEW}"


def test_every_record_has_its_pins():
    folder = records.BAKED / "cpu" / "matrix"
    assert sorted(path.name for path in folder.iterdir()) == matrix.versions()


def test_every_kernel_of_the_library_belongs_to_a_part():
    covered = {specimen.kernel for module in matrix.modules() for specimen in matrix.specimens(module)}
    assert covered == {specimen.kernel for specimen in SPECIMENS if specimen.path.startswith("kernels/")}


def test_a_sample_reaches_from_the_first_launch_to_the_last():
    for count in (1, 2, matrix.SAMPLE, matrix.SAMPLE + 1, 40):
        found = matrix.spread(SPECIMENS[:count])
        assert len(found) == len(set(map(id, found))) == min(count, matrix.SAMPLE)
        assert found[0] is SPECIMENS[0] and found[-1] is SPECIMENS[count - 1]


def test_a_specimen_over_its_bounds_is_an_obstacle():
    specimen = matrix.specimens("add")[0]
    entry = {
        "target": "sm_80",
        "configuration": {"num_warps": 4},
        "registers": specimen.registers,
        "spill_bytes": 0,
        "shared_bytes": 0,
    }
    assert not matrix.obstacle(entry, specimen)
    assert "registers" in matrix.obstacle(entry | {"registers": specimen.registers + 1}, specimen)
    assert "spill_bytes" in matrix.obstacle(entry | {"spill_bytes": 1}, specimen)
    assert "2048 threads" in matrix.obstacle(entry | {"target": "gfx942", "configuration": {"num_warps": 32}}, specimen)


def test_a_version_without_an_environment_is_told_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setattr(records, "ROOT", tmp_path)
    with pytest.raises(records.RecordError, match=r"run `make .venv/triton-3.6.0/ready`"):
        matrix.python_of("3.6.0")
