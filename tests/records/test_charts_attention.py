"""The charts of *Attention, measured*, and the means that its page judges: worked out again from the measurements."""

import math

import pytest

from scripts import charts
from scripts.drawing.data import sides
from scripts.provenance import records
from scripts.provenance.environment import primary_machine
from tests.records.test_charts import RECORDS, changing

DENSE = ("attention", "attention_causal")


def measured(program: str) -> dict:
    return records.read(records.record_path(primary_machine(), "program", f"attention_peers/{program}"))


def mean_of(rows: list[dict], peer: str, ours: str = "blockwise") -> float:
    """The geometric mean of the peer's median over ours, case by case."""
    times: dict[tuple, dict[str, float]] = {}
    for row in rows:
        times.setdefault((row["op"], row["direction"], row["shape"]), {})[row["implementation"]] = row["ms"][1]
    logs = [math.log(case[peer] / case[ours]) for case in times.values() if peer in case]
    return math.exp(sum(logs) / len(logs))


@pytest.mark.parametrize("program", ["forward", "backward"])
def test_the_means_are_those_of_the_cases_that_the_page_names(program):
    record = measured(program)
    rows = [row for row in record["measurements"] if row["op"] in DENSE and row["timing"] == "call"]
    rows = [row for row in rows if sides(row["shape"])[0] * sides(row["shape"])[2] == 16384]
    assert {sides(row["shape"])[3] for row in rows} == {64, 128, 256} and {row["op"] for row in rows} == set(DENSE)
    assert {sides(row["shape"])[2] for row in rows} == {1024, 4096, 16384}
    assert len({(row["op"], row["shape"]) for row in rows}) == 18
    for peer, mean in record["figures"]["times_ours"].items():
        assert mean == pytest.approx(mean_of(rows, peer))


def test_the_means_of_masks_are_those_of_both_directions():
    record = measured("masks")
    for name in ("window", "documents"):
        rows = [row for row in record["measurements"] if row["op"] == f"attention_{name}" and row["timing"] == "call"]
        assert {row["direction"] for row in rows} == {"fwd", "bwd"}
        for peer, mean in record["figures"][name].items():
            assert mean == pytest.approx(mean_of(rows, peer))


def test_the_share_of_the_copy_is_that_of_the_replays_where_there_are_any():
    record = measured("decode")
    replayed = {row["shape"] for row in record["measurements"] if row["timing"] == "graph"}
    rows = [row for row in record["measurements"] if (row["timing"] == "graph") == (row["shape"] in replayed)]
    for name, share in record["figures"]["of_the_copy"].items():
        present = [row for row in rows if row["implementation"] in (name, "copy")]
        assert share == pytest.approx(1 / mean_of(present, name, "copy"))


def with_times(program: str, times: dict[str, list[float]]) -> dict:
    changed = changing(f"attention_peers/{program}")
    for row in changed[f"attention_peers/{program}"]["measurements"]:
        row["ms"] = times.get(row["implementation"], row["ms"])
    return changed


def test_a_rate_is_the_operations_over_the_time():
    rows = charts.draw("attention_forward", with_times("forward", {"blockwise": [1.0, 2.0, 4.0]}))["sidecar"]["rows"]
    ours = [row for row in rows if row[2] == "Blockwise"]
    assert len(ours) == 18
    for head, mask, _, length, *_, slow, middle, fast in ours:
        pairs = length * (length + 1) // 2 if mask == "causal" else length**2
        flops = 4 * 16384 // length * 2048 // head * head * pairs
        assert [slow, middle, fast] == [round(flops / ms / 1e9, 1) for ms in (4.0, 2.0, 1.0)]


@pytest.mark.parametrize(("program", "beside"), [("masks", "flex"), ("decode", "copy")])
def test_a_loss_lies_left_of_the_line(program, beside):
    times = {"blockwise": [0.8, 1.25, 2.0], beside: [0.9, 1.0, 1.1]}
    rows = charts.draw(f"attention_{program}", with_times(program, times))["sidecar"]["rows"]
    ours = [row for row in rows if row[2] == "blockwise"]
    assert ours and all(row[-3:] == [0.5, 0.8, 1.25] for row in ours)


def test_both_directions_of_windows_and_documents_are_in_the_chart():
    rows = charts.draw("attention_masks", RECORDS)["sidecar"]["rows"]
    assert {row[0] for row in rows} == {f"{what}, {way}" for what in ("Windows", "Documents") for way in ("forward", "backward")}
