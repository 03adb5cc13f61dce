"""The chart of the capstone's small library: every time of a rival stands in it, and every number shows."""

from xml.etree import ElementTree

import pytest

from scripts import charts
from tests.records.test_charts import RECORDS, SVG, changing, shown

NAME, SOURCE = "capstone_library", "capstone/benchmark"
FIGURES = RECORDS[SOURCE]["figures"]


def test_every_time_of_a_rival_is_a_row():
    found = {(*row[:2], row[2].replace(",", "").replace(" × ", "x"), row[3]): row[4:] for row in chart()["rows"]}
    wanted = {
        (kernel, direction, shape, label): [ms[rival], ms["ours"], round(ms[rival] / ms["ours"], 4)]
        for op, kernel in (("softmax", "softmax"), ("layer_norm", "layer norm"), ("rms_norm", "RMS norm"), ("dropout", "dropout"))
        for shape, ways in FIGURES[op].items()
        for key, direction in (("fwd", "forward"), ("bwd", "backward"))
        for rival, label in (("eager", "PyTorch eager"), ("compile", "torch.compile"))
        for ms in [ways[key]]
    }
    assert found == wanted and len(chart()["rows"]) == len(wanted)


def chart(given=RECORDS):
    return charts.draw(NAME, given)["sidecar"]


@pytest.mark.parametrize("op", FIGURES)
@pytest.mark.parametrize("direction", ["fwd", "bwd"])
@pytest.mark.parametrize("way", ["ours", "eager", "compile"])
def test_a_changed_time_changes_the_chart(op, direction, way):
    changed = changing(SOURCE)
    next(iter(changed[SOURCE]["figures"][op].values()))[direction][way] *= 1.5
    assert shown(NAME, changed)


def test_the_words_tell_a_loss():
    changed = changing(SOURCE)
    for ways in changed[SOURCE]["figures"]["dropout"].values():
        ways["bwd"] = {"ours": 0.2, "eager": 0.1, "compile": 0.3}
    assert "Dropout backward: PyTorch eager 0.50, torch.compile 1.50." in chart(changed)["alt"]


def test_a_card_without_a_compiler_has_its_chart_of_one_rival():
    changed = changing(SOURCE)
    for shapes in changed[SOURCE]["figures"].values():
        for ways in shapes.values():
            for ms in ways.values():
                del ms["compile"]
    drawn = charts.draw(NAME, changed)
    assert {row[3] for row in drawn["sidecar"]["rows"]} == {"PyTorch eager"}
    words = [text.text for text in ElementTree.fromstring(drawn["narrow"]).iter(f"{SVG}text")]
    assert "PyTorch eager" in words and "torch.compile" not in words
