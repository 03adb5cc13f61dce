"""The charts of the softmax ladder and of *Autograd*: what is worked out for them is right, and every number shows."""

import pytest

from scripts import charts
from scripts.drawing.chapters.softmax_ladder import STEPS
from tests.records.test_charts import RECORDS, changing, shown


def test_every_step_has_its_kernels_and_its_copy():
    rows = charts.draw("softmax_ladder", RECORDS)["sidecar"]["rows"]
    limit = "device copy (the limit drawn)"
    expected = [(title, label) for title, labels in STEPS.values() for label in (*labels.values(), limit)]
    assert [(row[0], row[2]) for row in rows] == expected
    assert [row[-2] for row in rows if row[2] == limit] == [4000.0] * len(STEPS)


def test_the_distance_is_the_largest_of_its_window():
    changed = changing("autograd/train")
    figures = changed["autograd/train"]["figures"]
    figures["blockwise"][17] = figures["float64"][17] + 0.25
    rows = charts.draw("autograd_losses", changed)["sidecar"]["rows"]
    off = [abs(a - b) for a, b in zip(figures["blockwise"], figures["float64"], strict=True)]
    assert rows[1][-1] == pytest.approx(0.25) and rows[0][-1] == pytest.approx(max(off[:10]), abs=1e-9)


@pytest.mark.parametrize("curve", ["eager", "blockwise", "float64"])
def test_a_changed_loss_changes_the_chart(curve):
    changed = changing("autograd/train")
    changed["autograd/train"]["figures"][curve][30] += 0.5
    assert shown("autograd_losses", changed)
