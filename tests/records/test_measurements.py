"""The tables of the measurement pages hold every operation that was measured, and no loss is left out."""

from scripts.pages import measurements
from scripts.provenance import records
from scripts.provenance.environment import primary_machine
from tests.records.freshness import awaited


def row(implementation: str, us: float, timing: str = "call", shape: str = "8x8") -> dict:
    kept = {"op": "add", "direction": "fwd", "dtype": "fp32", "shape": shape}
    return kept | {"implementation": implementation, "timing": timing, "ms": [us / 1e3] * 3}


def test_every_operation_has_its_page():
    measured = {
        entry["op"] for _, record in records.all_records(primary_machine()) for entry in record.get("measurements") or []
    }
    listed = [op for ops in measurements.PAGES.values() for op in ops]
    assert measured <= set(listed) and len(listed) == len(set(listed))
    assert [op for op in listed if op not in measured and not awaited(op)] == []


def test_a_table_has_a_column_for_each_implementation():
    rows = [row("blockwise", 2.0), row("eager", 3.0), row("blockwise", 1.0, "graph"), row("way_two", 4.0, shape="16x8")]
    head, *lines = measurements.table(rows, "add")
    assert head == ["direction", "shape", "dtype", "timing", "ours, µs", "eager, µs", "way two, µs"]
    assert lines == [
        ["forward", "8x8", "fp32", "as called", 2.0, 3.0, None],
        ["forward", "8x8", "fp32", "replayed", 1.0, None, None],
        ["forward", "16x8", "fp32", "as called", None, None, 4.0],
    ]


def test_losses_are_listed_worst_first_and_what_is_level_is_none():
    rows = [row("blockwise", 2.0), row("eager", 1.0), row("compile", 1.9), row("slow_way", 0.1)]
    rows += [row("blockwise", 10.0, shape="16x8"), row("compile", 9.85, shape="16x8")]  # level
    rows += [row("blockwise", 10.0, "graph", "16x8"), row("library", 4.0, "graph", "16x8")]
    rows += [row("library", 1.0, shape="16x8")]  # so is its call, and that may be the host
    _, *called = measurements.lost(rows, ["add"], with_the_host=True)
    assert [(line[2], line[4], line[7], line[8]) for line in called] == [("16x8", "as called", "library", "0.10")]
    _, *lines = measurements.lost(rows, ["add"])
    assert [(line[2], line[4], line[7], line[8]) for line in lines] == [
        ("16x8", "replayed", "library", "0.40"),
        ("8x8", "as called", "eager", "0.50"),
    ]


def test_ours_loses_under_every_name_and_only_to_who_was_given_the_same():
    rows = [row("blockwise_nn", 2.0), row("blockwise_nt", 1.0), row("eager", 1.0), row("eager_nt", 0.8)]
    rows += [row("fused", 5.0, shape="16x8"), row("cublas", 4.0, shape="16x8"), row("separate", 1.0, shape="16x8")]
    _, *lines = measurements.lost(rows, ["add"])
    assert [(line[0], line[5], line[7], line[8]) for line in lines] == [
        ("add, rows by rows", 2.0, "eager", "0.50"),
        ("add, rows by columns", 1.0, "eager", "0.80"),
        ("add, fused", 5.0, "cuBLAS's own epilogue", "0.80"),
    ]


def test_every_name_of_ours_is_known():
    names = {
        entry["implementation"]
        for _, record in records.all_records(primary_machine())
        for entry in record.get("measurements") or []
    }
    assert {name for name in names if name.startswith("blockwise") or name == "fused"} == set(measurements.WAYS)
