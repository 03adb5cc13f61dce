"""The compatibility page's records: one a pinned version of Triton, of this code, and green."""

import pytest

from scripts import matrix, records

RENEW = "make test-matrix renews it"


@pytest.mark.parametrize("version", matrix.versions())
def test_record_is_of_this_code_and_green(version):
    found = records.read(records.record_path("cpu", "matrix", version))
    assert found["code"] == matrix.code() and records.is_fresh(found), f"older than its code: {RENEW}"
    assert found["environment"]["triton"] == version
    assert matrix.is_green(found), f"{matrix.summary(found)}: {RENEW}"


def test_every_record_has_its_pins():
    folder = records.BAKED / "cpu" / "matrix"
    assert sorted(path.stem for path in folder.glob("*.json")) == matrix.versions()


def test_a_version_without_an_environment_is_told_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setattr(records, "ROOT", tmp_path)
    with pytest.raises(records.RecordError, match=r"run `make .venv/triton-3.6.0/ready`"):
        matrix.python_of("3.6.0")
