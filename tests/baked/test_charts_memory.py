"""The charts of *SRAM and HBM*: what is worked out for them is right, and every counter shows."""

import copy
from typing import Any

import pytest

from scripts import charts
from tests.baked.test_charts import RECORDS, VARIANTS


def table(name: str) -> list[dict[str, Any]]:
    sidecar = charts.draw(name, RECORDS)["sidecar"]
    return [dict(zip(sidecar["columns"], row, strict=True)) for row in sidecar["rows"]]


@pytest.mark.parametrize("name", ["memory_working_set", "memory_strides"])
def test_the_copy_of_the_same_run_is_in_the_table(name):
    (limit,) = [row for row in table(name) if "device copy (the limit drawn)" in row.values()]
    assert 4000.0 in limit.values()


def test_the_roofline_divides_operations_by_bytes_counted_and_asked_for():
    rows = {row["kernel"]: row for row in table("memory_roofline")}
    programs, steps = (8192 // 64) ** 2, 8192 // 32
    asked = programs * (2 * steps * 64 * 32 * 2 + 64 * 64 * 2)  # two tiles of 64 by 32 a step, and one of 64 by 64 written
    tile = rows["tile 64"]
    assert tile["bytes asked for"] == asked
    assert tile["operations a byte asked for"] == pytest.approx(2 * 8192**3 / asked, rel=1e-4)
    assert tile["operations a byte counted"] == pytest.approx(2 * 8192**3 / (2.6e11 / 64), rel=1e-4)
    assert tile["rate (GFLOP/s)"] == pytest.approx(2 * 8192**3 / (700 / 64 * 1e-3) / 1e9, rel=1e-4)
    assert rows["add"]["operations a byte counted"] == pytest.approx(2**28 / 3.2e9, rel=1e-3)
    assert rows["large matrix product (the roof)"]["rate (GFLOP/s)"] == pytest.approx(2 * 8192**3 / 1.5e-3 / 1e9, rel=1e-4)


def test_trips_have_the_bytes_of_both_operations():
    rows = table("memory_trips")
    assert [(row["operation"], row["block or tile"]) for row in rows[:2]] == [("Addition", 32), ("Addition", 128)]
    products = [row for row in rows if row["operation"] == "Matrix product"]
    assert [row["moved (GB)"] for row in products] == [round(260 / tile, 1) for tile in (16, 32, 64, 128, 256)]


def test_moved_bytes_are_the_counted_ones():
    moved = [row for row in table("memory_strides") if row["bytes counted"] == "Bytes moved"]
    assert [row["bytes"] for row in moved] == [int(2.7e8 * min(stride, 8)) + int(2.5e8) for stride in (1, 2, 4, 8, 16, 32)]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("memory_roofline", "memory/roofline"),
        ("memory_trips", "memory/roofline"),
        ("memory_trips", "memory/block_sizes"),
        ("memory_strides", "memory/strides"),
    ],
)
def test_a_changed_counter_changes_the_chart(name, source):
    before, changed = charts.draw(name, RECORDS), copy.deepcopy(RECORDS)
    changed[source]["counters"][3]["dram_read_bytes"] *= 2
    after = charts.draw(name, changed)
    assert all(after[part] != before[part] for part in (*VARIANTS, "sidecar"))
