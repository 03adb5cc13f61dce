"""The charts of *SRAM and HBM*: what is worked out for them is right, and every counter shows."""

from typing import Any

import pytest

from scripts import charts
from tests.records.test_charts import RECORDS, changing, shown


def table(name: str) -> list[dict[str, Any]]:
    sidecar = charts.draw(name, RECORDS)["sidecar"]
    return [dict(zip(sidecar["columns"], row, strict=True)) for row in sidecar["rows"]]


def counted(source: str) -> list[int]:
    return [row["dram_read_bytes"] + row["dram_write_bytes"] for row in RECORDS[source]["counters"]]


def test_the_roofline_divides_operations_by_bytes_counted_and_asked_for():
    found = {row["kernel"]: row for row in table("memory_roofline")}
    programs, steps = (8192 // 64) ** 2, 8192 // 32
    asked = programs * (2 * steps * 64 * 32 * 2 + 64 * 64 * 2)  # two tiles of 64 by 32 a step, and one of 64 by 64 written
    place, tile = 4, found["tile 64"]
    (ms,) = [row["ms"][1] for row in RECORDS["memory/roofline"]["measurements"] if row["implementation"] == "tile64"]
    assert tile["bytes asked for"] == asked
    assert tile["operations a byte asked for"] == pytest.approx(2 * 8192**3 / asked, rel=1e-4)
    assert tile["operations a byte counted"] == pytest.approx(2 * 8192**3 / counted("memory/roofline")[place], rel=1e-4)
    assert tile["rate (GFLOP/s)"] == pytest.approx(2 * 8192**3 / (ms * 1e-3) / 1e9, rel=1e-4)
    assert found["add"]["operations a byte counted"] == pytest.approx(2**28 / counted("memory/roofline")[0], abs=1e-4)
    assert found["large matrix product (the roof)"]["rate (GFLOP/s)"] == pytest.approx(2 * 8192**3 / 1.5e-3 / 1e9, rel=1e-4)


def test_trips_have_the_bytes_of_both_operations():
    rows = table("memory_trips")
    assert [(row["operation"], row["block or tile"]) for row in rows[:2]] == [("Addition", 32), ("Addition", 128)]
    products = [row for row in rows if row["operation"] == "Matrix product"]
    assert [row["moved (GB)"] for row in products] == [round(moved / 1e9, 1) for moved in counted("memory/roofline")[2:7]]


def test_moved_bytes_are_the_counted_ones():
    moved = [row for row in table("memory_strides") if row["bytes counted"] == "Bytes moved"]
    assert [row["bytes"] for row in moved] == counted("memory/strides")


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
    changed = changing(source)
    changed[source]["counters"][3]["dram_read_bytes"] *= 2
    assert shown(name, changed)
