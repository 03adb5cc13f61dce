"""The charts of *Autotune* and of the landscape: every configuration stands in them, failures too, and every number shows."""

import pytest

from scripts import charts
from scripts.drawing.chapters.landscape import COLUMNS, SIZES
from tests.records.test_charts import RECORDS, changing, shown

SEARCH, REPEAT = RECORDS["landscape/search"]["figures"], RECORDS["autotune/repeat"]["figures"]
FIRST = next(iter(SEARCH["shapes"]))


def rows_of(shape: str, given=RECORDS) -> list[dict]:
    rows = charts.draw("landscape", given)["sidecar"]["rows"]
    return [found for row in rows if (found := dict(zip(["shape", *COLUMNS], row, strict=True)))["shape"] == shape]


@pytest.mark.parametrize("shape", SEARCH["shapes"])
def test_every_configuration_has_its_row_the_fastest_first_and_failures_last(shape):
    rows, tried = rows_of(shape), SEARCH["shapes"][shape]
    assert len(rows) == len(tried["rows"]) + 1
    times = [row["time p50 (µs)"] for row in rows[:-1]]
    ranked = sorted(row["us"] for row in tried["rows"] if row["us"])
    assert times == [*ranked, *[None] * (len(times) - len(ranked))]
    assert [row["rank"] for row in rows] == [*range(1, len(ranked) + 1), *[None] * (len(rows) - len(ranked))]
    reasons = [row["failure"] for row in tried["rows"] if row["failure"]]
    assert [row["why it failed"] for row in rows[:-1]] == [*[None] * len(ranked), *reasons]
    found = {tuple(row[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "warps", "stages")) for row in rows[:-1]}
    assert found == {tuple(row[size] for size in SIZES) for row in tried["rows"]}
    assert rows[-1]["TFLOP/s"] == round(tried["flops"] / tried["library_us"] / 1e6, 1)


def test_of_dtypes_every_configuration_of_the_first_shape_has_its_row():
    tried = next(iter(RECORDS["landscape/dtypes"]["figures"]["shapes"].values()))
    sidecar = charts.draw("landscape_dtypes", RECORDS)["sidecar"]
    rows = [dict(zip(sidecar["columns"], row, strict=True)) for row in sidecar["rows"]]
    assert sidecar["columns"] == ["dtype", *COLUMNS] and len({row["dtype"] for row in rows}) >= 4
    for dtype, found in tried.items():
        ranked = sorted(row["us"] for row in found["rows"] if row["us"])
        failed = sorted(row["failure"] for row in found["rows"] if row["failure"])
        *own, library = (row for row in rows if row["dtype"] == dtype)
        assert [row["time p50 (µs)"] for row in own if row["rank"]] == ranked and library["TFLOP/s"] > 0
        assert sorted(row["why it failed"] for row in own if not row["rank"]) == failed


def test_the_words_name_winner_loser_and_failures():
    alt = charts.draw("landscape", RECORDS)["sidecar"]["alt"]
    for shape, tried in SEARCH["shapes"].items():
        timed = sorted((row for row in tried["rows"] if row["us"]), key=lambda row: row["us"])
        m, n, k = (f"{int(side):,}" for side in shape.split("x"))
        best, tile = timed[0], "×".join(str(timed[0][size]) for size in SIZES[:3])
        said = f"{best['tflops']:,.0f} TFLOP/s with {tile}, {best['num_warps']} warps, {best['num_stages']} stages"
        assert f"{m} × {n}, {k} terms: from {said} down to {timed[-1]['tflops']:,.0f} with" in alt
        assert f", {len(tried['rows']) - len(timed)} failed, cuBLAS {tried['flops'] / tried['library_us'] / 1e6:,.0f}." in alt


@pytest.mark.parametrize(("field", "value"), [("tflops", 123.4), ("spills", 8888)])
def test_a_changed_time_or_a_spill_changes_the_chart(field, value):
    changed = changing("landscape/search")
    row = next(row for row in changed["landscape/search"]["figures"]["shapes"][FIRST]["rows"] if row["us"] and not row["spills"])
    row[field] = value
    assert shown("landscape", changed)


def test_a_failure_moves_to_the_end():
    changed = changing("landscape/search")
    row = changed["landscape/search"]["figures"]["shapes"][FIRST]["rows"][0]
    row |= {"us": None, "tflops": None, "us_p20": None, "us_p80": None, "failure": "wrong results"}
    before, rows = rows_of(FIRST), rows_of(FIRST, changed)
    ranked = sum(row["rank"] is not None for row in before)
    assert [row["rank"] for row in rows] == [*range(1, ranked), *[None] * (len(rows) - ranked + 1)]
    assert "wrong results" in [row["why it failed"] for row in rows[ranked - 1 :]]


@pytest.mark.parametrize("field", ["us", "said_high_us", "wins"])
def test_a_changed_search_changes_the_chart(field):
    changed = changing("autotune/repeat")
    changed["autotune/repeat"]["figures"]["rows"][1][field] += 7
    assert shown("autotune_repeat", changed)


def test_the_wins_are_those_of_the_record():
    rows = charts.draw("autotune_repeat", RECORDS)["sidecar"]["rows"]
    assert sum(row[1] for row in rows) == REPEAT["searches"] and [row[2] for row in rows] == sorted(row[2] for row in rows)
