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


def test_moved_bytes_are_the_counted_ones():
    moved = [row for row in table("memory_strides") if row["bytes counted"] == "Bytes moved"]
    assert [row["bytes"] for row in moved] == [int(2.7e8 * min(stride, 8)) + int(2.5e8) for stride in (1, 2, 4, 8, 16, 32)]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("memory_strides", "memory/strides"),
    ],
)
def test_a_changed_counter_changes_the_chart(name, source):
    before, changed = charts.draw(name, RECORDS), copy.deepcopy(RECORDS)
    changed[source]["counters"][3]["dram_read_bytes"] *= 2
    after = charts.draw(name, changed)
    assert all(after[part] != before[part] for part in (*VARIANTS, "sidecar"))
