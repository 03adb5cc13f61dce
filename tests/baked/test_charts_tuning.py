"""The charts of *Autotune* and of the landscape: every configuration stands in them, failures too, and every number shows."""

import copy

import pytest

from scripts import charts
from scripts.drawing.chapters.landscape import COLUMNS, SIZES
from tests.baked.test_charts import RECORDS, VARIANTS

SEARCH, REPEAT = RECORDS["landscape/search"]["figures"], RECORDS["autotune/repeat"]["figures"]


def rows_of(record=RECORDS) -> list[dict]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in charts.draw("landscape", record)["sidecar"]["rows"]]


@pytest.mark.parametrize("shape", SEARCH["shapes"])
def test_every_configuration_has_its_row_the_fastest_first_and_failures_last(shape):
    rows = [row for row in rows_of() if row["shape"] == shape]
    tried = SEARCH["shapes"][shape]["rows"]
    assert len(rows) == len(tried) + 1
    times = [row["time p50 (µs)"] for row in rows[:-1]]
    ranked = sorted(row["us"] for row in tried if row["us"])
    assert times == [*ranked, *[None] * (len(tried) - len(ranked))]
    assert [row["rank"] for row in rows] == [*range(1, len(ranked) + 1), *[None] * (len(rows) - len(ranked))]
    assert [row["why it failed"] for row in rows[len(ranked) : -1]] == ["OutOfResources: shared memory"]
    found = {tuple(row[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "warps", "stages")) for row in rows[:-1]}
    assert found == {tuple(row[size] for size in SIZES) for row in tried}
    assert rows[-1]["TFLOP/s"] == 650.0


def test_the_words_name_winner_loser_and_failures():
    alt = charts.draw("landscape", RECORDS)["sidecar"]["alt"]
    assert "4,096 × 4,096, 4,096 terms: from 602 TFLOP/s with 128×256×64, 8 warps, 3 stages down to 310" in alt
    assert alt.count("1 failed, cuBLAS 650") == len(SEARCH["shapes"])


def test_a_changed_time_or_a_spill_changes_the_chart():
    before = charts.draw("landscape", RECORDS)
    for field, value in (("tflops", 123.4), ("spills", 8)):
        changed = copy.deepcopy(RECORDS)
        changed["landscape/search"]["figures"]["shapes"]["4096x4096x4096"]["rows"][1][field] = value
        after = charts.draw("landscape", changed)
        assert all(after[part] != before[part] for part in (*VARIANTS, "sidecar"))


def test_a_failure_moves_to_the_end():
    changed = copy.deepcopy(RECORDS)
    row = changed["landscape/search"]["figures"]["shapes"]["4096x4096x4096"]["rows"][0]
    row |= {"us": None, "tflops": None, "us_p20": None, "us_p80": None, "failure": "wrong results"}
    rows = [row for row in rows_of(changed) if row["shape"] == "4096x4096x4096"]
    assert [row["why it failed"] for row in rows[3:5]] == ["wrong results", "OutOfResources: shared memory"]


@pytest.mark.parametrize("field", ["us", "said_high_us", "wins"])
def test_a_changed_search_changes_the_chart(field):
    before, changed = charts.draw("autotune_repeat", RECORDS), copy.deepcopy(RECORDS)
    changed["autotune/repeat"]["figures"]["rows"][1][field] += 7
    after = charts.draw("autotune_repeat", changed)
    assert all(after[part] != before[part] for part in (*VARIANTS, "sidecar"))


def test_the_wins_are_those_of_the_record():
    rows = charts.draw("autotune_repeat", RECORDS)["sidecar"]["rows"]
    assert sum(row[1] for row in rows) == REPEAT["searches"] and [row[2] for row in rows] == sorted(row[2] for row in rows)
