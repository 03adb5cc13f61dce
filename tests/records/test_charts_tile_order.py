"""The charts of the order of tiles and of *Precision*: what is worked out for them is right, and every number shows."""

import pytest

from scripts import charts
from scripts.drawing.chapters.precision import LENGTHS, SUMS, WHOLE
from scripts.drawing.chapters.tile_order import GROUPS, WATCHED
from tests.records.test_charts import RECORDS, changing, shown


def test_every_setting_has_its_rate_and_the_watched_shapes_their_bytes():
    rows = charts.draw("tile_order", RECORDS)["sidecar"]["rows"]
    assert [row[1] for row in rows] == [*GROUPS, "cuBLAS"] * 4
    first = RECORDS["tile_order/groups"]["measurements"][0]
    assert rows[0][2:6] == [*first["ms"], pytest.approx(2 * 2048**3 / (first["ms"][1] * 1e-3) / 1e12, abs=0.06)]
    read = [row["dram_read_bytes"] / 1e6 for row in RECORDS["tile_order/groups"]["counters"]]
    for place, shape in enumerate(WATCHED):  # each setting was run once with either, in this order
        assert [row[-1] for row in rows if row[0] == shape] == [*read[place::2], None]
    assert all(row[-1] is None for row in rows if row[0] not in WATCHED)


def test_changed_bytes_change_the_chart():
    changed = changing("tile_order/groups")
    changed["tile_order/groups"]["counters"][3]["dram_read_bytes"] *= 2
    assert shown("tile_order", changed)


@pytest.mark.parametrize(
    ("name", "kind", "which", "ways"),
    [("precision_errors", "normal", "whole", WHOLE), ("precision_sums", "positive", "sums", SUMS)],
)
def test_every_error_is_in_the_table_and_in_the_chart(name, kind, which, ways):
    changed, kept = changing("precision/ways"), RECORDS["precision/ways"]["figures"][kind]
    rows = charts.draw(name, RECORDS)["sidecar"]["rows"]
    assert [row[-1] for row in rows] == [kept[str(length)][way][which] for way in ways for length in LENGTHS]
    changed["precision/ways"]["figures"][kind]["1024"][ways[1]][which] *= 3
    assert shown(name, changed)


def test_a_way_that_failed_is_left_out():
    changed = changing("precision/ways")
    changed["precision/ways"]["figures"]["normal"]["64"]["fp8"] = None
    labels = {row[0] for row in charts.draw("precision_errors", changed)["sidecar"]["rows"]}
    assert len(labels) == len(WHOLE) - 1


def test_a_rate_is_operations_over_time():
    rows = charts.draw("precision_speed", RECORDS)["sidecar"]["rows"]
    assert len(rows) == len(RECORDS["precision/ways"]["measurements"])
    assert all(row[6] == pytest.approx(2 * 8192**3 / (row[3] * 1e-3) / 1e12, abs=0.06) for row in rows)
