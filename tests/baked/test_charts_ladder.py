"""The charts of the softmax ladder and of *Autograd*: what is worked out for them is right, and every number shows."""

import copy

import pytest

from scripts import charts
from scripts.drawing.chapters.softmax_ladder import STEPS
from tests.baked.test_charts import RECORDS, VARIANTS


def test_every_step_has_its_kernels_and_its_copy():
    rows = charts.draw("softmax_ladder", RECORDS)["sidecar"]["rows"]
    limit = "device copy (the limit drawn)"
    expected = [(title, label) for title, labels in STEPS.values() for label in (*labels.values(), limit)]
    assert [(row[0], row[2]) for row in rows] == expected
    assert [row[-2] for row in rows if row[2].startswith("device copy")] == [4000.0] * len(STEPS)


@pytest.mark.parametrize("name", STEPS)
def test_a_changed_time_of_any_step_changes_the_chart(name):
    before, changed = charts.draw("softmax_ladder", RECORDS), copy.deepcopy(RECORDS)
    changed[f"softmax_ladder/{name}"]["measurements"][-1]["ms"] = [0.1, 0.11, 0.12]
    after = charts.draw("softmax_ladder", changed)
    assert all(after[part] != before[part] for part in (*VARIANTS, "sidecar"))


def test_the_distance_is_the_largest_of_its_window():
    changed = copy.deepcopy(RECORDS)
    changed["autograd/train"]["figures"]["blockwise"][17] += 0.25
    rows = charts.draw("autograd_losses", changed)["sidecar"]["rows"]
    assert rows[1][-1] == pytest.approx(0.25 + 18 * 2e-5, abs=1e-6)
    assert rows[0][-1] == pytest.approx(10 * 2e-5, abs=1e-6)


@pytest.mark.parametrize("curve", ["eager", "blockwise", "float64"])
def test_a_changed_loss_changes_the_chart(curve):
    before, changed = charts.draw("autograd_losses", RECORDS), copy.deepcopy(RECORDS)
    changed["autograd/train"]["figures"][curve][30] += 0.5
    after = charts.draw("autograd_losses", changed)
    assert all(after[part] != before[part] for part in (*VARIANTS, "sidecar"))
