"""The charts of a loss's peak memory and of a training step, whose records may not be there yet: made-up ones."""

from xml.etree import ElementTree

import pytest

from scripts import charts
from tests.records.made_up import PEAKS, STEPS, made_up
from tests.records.test_charts import SVG, changing, shown


@pytest.mark.parametrize(("name", "source"), [("training_peaks", "training/peaks"), ("training_step", "training/one_step")])
def test_without_a_record_nothing_is_drawn_and_nothing_fails(name, source, tmp_path):
    assert charts.files("made-up", tmp_path) == {}
    record = made_up(source)
    charts.records.write(charts.records.record_path("made-up", "program", source, tmp_path), record)
    assert {path.name.partition(".")[0] for path in charts.files("made-up", tmp_path)} == {name}


def test_every_peak_is_a_row_and_what_did_not_fit_is_said():
    rows = charts.draw("training_peaks", {"training/peaks": made_up("training/peaks")})["sidecar"]["rows"]
    peaks = [row for row in rows if row[2] == "PyTorch eager"]
    for classes, tokens, _, gb in peaks:
        assert gb == pytest.approx(4.2 * classes / 1e6 + PEAKS["eager"] * tokens * classes, abs=1e-3)
    assert len(peaks) == 6
    missing = [row for row in rows if row[3] is None]
    assert missing == [[128256, 8192, "PyTorch eager, logits in float32: not enough memory", None]]


def test_the_floor_is_two_gradients_in_bfloat16():
    rows = charts.draw("training_peaks", {"training/peaks": made_up("training/peaks")})["sidecar"]["rows"]
    floor = {tuple(row[:2]): row[3] for row in rows if row[2] == "The two gradients alone"}
    assert floor[32000, 2048] == pytest.approx((32000 * 2048 + 2048 * 2048) * 2 / 1e9, abs=1e-3) and len(floor) == 6


def test_a_changed_figure_changes_both():
    changed = changing("training/peaks")
    changed["training/peaks"]["figures"]["rows"][0]["gb"] *= 1.5
    assert shown("training_peaks", changed)
    changed = changing("training/one_step")
    changed["training/one_step"]["figures"]["blockwise"]["peak_gb"] = 50.0
    assert shown("training_step", changed)


@pytest.mark.parametrize("variant", ["wide", "narrow"])
def test_a_step_s_bars_are_named_and_numbered(variant):
    drawn = charts.draw("training_step", {"training/one_step": made_up("training/one_step")})
    words = [text.text for text in ElementTree.fromstring(drawn[variant]).iter(f"{SVG}text")]
    for rate, gb in STEPS.values():
        assert f"{rate:,}" in words and f"{gb}" in words
    assert words.count("Liger-Kernel") == 2
    assert [row[1:] for row in drawn["sidecar"]["rows"]] == [list(values) for values in STEPS.values()]
