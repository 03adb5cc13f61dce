"""The charts of *Matmul on Hopper* and *Fusing around a matmul*: their ratios are right, and a loss shows as a loss."""

import pytest

from scripts import charts
from scripts.drawing.chapters.fusing import LINES, RATIOS
from scripts.drawing.chapters.products import ticks
from tests.records.test_charts import RECORDS, changing, shown

BESIDE_CUBLAS = {
    "products_shapes": ("hopper/benchmark", "blockwise_nt", "eager_nt"),
    "narrow_shapes": ("hopper/benchmark_skinny", "blockwise_nn", "eager"),
    "scaled_shapes": ("hopper/benchmark_fp8", "blockwise_row", "scaled_mm_row_fast"),
}


def with_times(source: str, times: dict[str, list[float]], op: str = "") -> dict:
    """The records with other times for some implementations, in every case of an operation."""
    changed = changing(source)
    for row in changed[source]["measurements"]:
        if row["implementation"] in times and (not op or row["op"] == op):
            row["ms"] = times[row["implementation"]]
    return changed


@pytest.mark.parametrize("name", BESIDE_CUBLAS)
def test_a_ratio_is_the_peer_s_time_over_ours_in_the_same_layout(name):
    source, ours, peer = BESIDE_CUBLAS[name]
    drawn = charts.draw(name, with_times(source, {ours: [0.8, 1.25, 2.0], peer: [0.9, 1.0, 1.1]}))
    rows = [row for row in drawn["sidecar"]["rows"] if row[2] == ours]
    assert rows and all(row[-3:] == [0.5, 0.8, 1.25] for row in rows)
    assert " 0.80" in drawn["sidecar"]["alt"]


def test_every_shape_and_layout_is_in_the_chart():
    rows = charts.draw("products_shapes", RECORDS)["sidecar"]["rows"]
    called = [row for row in RECORDS["hopper/benchmark"]["measurements"] if row["timing"] == "call"]
    assert len(rows) == 2 * len({(row["shape"], row["dtype"]) for row in called})
    assert {row[0] for row in rows} == {"bfloat16, squares", "bfloat16, layers, and few terms", "float16, squares"}


@pytest.mark.parametrize(
    ("name", "source", "op", "bound"),
    [("epilogue_shapes", "fusing/epilogue", "epilogue_gelu", "epilogue_product"),
     ("folded_shapes", "fusing/folded", "ln_linear_fold", "ln_linear_product")],
)  # fmt: skip
def test_a_time_is_told_as_a_multiple_of_the_bare_product(name, source, op, bound):
    changed = with_times(source, {"eager": [2.0, 2.0, 2.0]}, bound)
    for row in changed[source]["measurements"]:
        if row["op"] == op and row["implementation"] == "compile":
            row["ms"] = [2.0, 2.5, 3.0]
    rows = charts.draw(name, changed)["sidecar"]["rows"]
    assert [row[-3:] for row in rows if row[2] == "compile"][:2] == [[1.0, 1.25, 1.5]] * 2


def test_forward_and_backward_each_have_eager_as_their_measure():
    rows = charts.draw("norm_linear_shapes", RECORDS)["sidecar"]["rows"]
    assert [row[0] for row in rows] == ["Forward"] * (len(rows) // 2) + ["Backward"] * (len(rows) // 2)
    assert all(row[-2] == 1 for row in rows if row[2] == "eager")


@pytest.mark.parametrize("key", LINES)
def test_every_error_of_the_fold_is_in_the_table_and_in_the_chart(key):
    (kind, way), changed = key, changing("fusing/folded")
    kept = RECORDS["fusing/folded"]["figures"]["errors"][kind]
    rows = [row for row in charts.draw("fold_digits", RECORDS)["sidecar"]["rows"] if row[0] == LINES[key].label]
    assert [row[-1] for row in rows] == [kept[ratio][way] for ratio in RATIOS]
    changed["fusing/folded"]["figures"]["errors"][kind]["10"][way] *= 3
    assert shown("fold_digits", changed)


@pytest.mark.parametrize(("low", "high"), [(0.8, 1.1), (0.95, 3.2), (1, 1.4), (0.2, 7.5), (0.5, 200)])
def test_one_is_among_a_few_ticks_within_reach(low, high):
    found = ticks(low, high)
    assert 1 in found and len(found) <= 7 and all(low <= tick <= high for tick in found)
