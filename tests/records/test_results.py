"""The table of results: every case of the records is in it, and its words follow from its numbers."""

import math
import re

import pytest

from scripts import prepare
from scripts.pages import peers as results
from scripts.provenance import records
from scripts.provenance.environment import primary_machine


def entry(implementation: str, us: float, timing: str = "call", op: str = "add", moved: int = 10**8) -> dict:
    row = {"op": op, "direction": "fwd", "shape": "1", "dtype": "fp32", "implementation": implementation, "timing": timing}
    return row | {"ms": [us / 1e3 * 0.9, us / 1e3, us / 1e3 * 1.1], "bytes": moved, "flops": None}


def test_the_best_peer_counts_and_not_our_own_steps():
    entries = [entry("blockwise", 10), entry("eager", 30), entry("compile", 12), entry("row", 1), entry("copy", 1)]
    (row,) = results.rows(entries, 4e12)
    assert row["call"] == pytest.approx({"us": 10, "peer": "compile", "peer_us": 12, "ratio": 1.2})
    assert row["floor_us"] == pytest.approx(25) and results.large(row) and row["graph"] is None


@pytest.mark.parametrize(("peer", "word"), [(9.7, "lost"), (9.81, "level"), (10.19, "level"), (10.3, "won")])
def test_level_is_within_two_percent(peer, word):
    (row,) = results.rows([entry("blockwise", 10), entry("eager", peer)], 4e12)
    assert results.verdict(row["call"]["ratio"]) == word and word in results.table([row])[1]


def test_a_summary_counts_every_case_once():
    cases = [(10, 20, 10**8), (10, 10, 10**8), (10, 5, 10**8), (10, 1, 100)]
    found = []
    for number, (ours, theirs, moved) in enumerate(cases):
        pair = [entry("blockwise", ours, moved=moved), entry("eager", theirs, moved=moved)]
        found += results.rows([row | {"shape": str(number)} for row in pair], 4e12)
    summary = results.summary(found)
    assert (summary["cases"], summary["large"]) == (4, 3)
    assert summary["call_all"] == {"won": 1, "level": 1, "lost": 2}
    assert summary["call_large"] == {"won": 1, "level": 1, "lost": 1}
    assert summary["mean"] == pytest.approx(math.cbrt(2 * 1 * 0.5))
    assert summary["median"] == 1
    assert summary["graph_all"] == {"won": 0, "level": 0, "lost": 0}
    assert summary["mean_alone"] == summary["mean"]


def test_the_limit_is_the_best_peer_s_time_over_that_of_a_copy():
    cases = {"add": (40, 50, 10**8), "histc": (10, 1000, 10**8), "sum": (1, 100, 100)}
    found = []
    for op, (ours, theirs, moved) in cases.items():
        found += results.rows([entry("blockwise", ours, op=op, moved=moved), entry("eager", theirs, op=op, moved=moved)], 4e12)
    summary = results.summary(found)
    # Of the three the histogram has another limit, and the sum does not fill the machine.
    assert summary["mean_copied"] == pytest.approx(1.25) and summary["limit_copied"] == pytest.approx(50 / 25)
    assert results.summary([])["mean"] is results.summary([])["limit_copied"] is None


def test_a_replay_stands_for_the_call_where_there_is_one():
    entries = [entry("blockwise", 40), entry("eager", 20), entry("blockwise", 10, "graph"), entry("eager", 18, "graph")]
    summary = results.summary(results.rows(entries, 4e12))
    assert summary["mean"] == pytest.approx(0.5) and summary["mean_alone"] == pytest.approx(1.8)


def test_an_operation_of_a_chapter_only_is_no_result():
    assert results.rows([entry("blockwise", 10, op="wave"), entry("eager", 12, op="wave")], 4e12) == []


def test_the_published_table_has_every_case_of_the_records():
    machine = primary_machine()
    wanted = set()
    for _, record in records.all_records(machine):
        cases: dict[tuple[str, ...], set[str]] = {}
        for row in record.get("measurements", []):
            if row["op"] in results.OPERATIONS:
                cases.setdefault((row["op"], row["direction"], row["shape"], row["dtype"]), set()).add(row["implementation"])
        wanted |= {case for case, names in cases.items() if "blockwise" in names and len(names & results.PEERS.keys()) > 0}
    found = [(row["op"], row["direction"], row["shape"], row["dtype"]) for row in prepare.library_rows(machine)]
    assert len(found) == len(set(found)) and wanted and wanted == set(found)


def test_the_published_words_follow_from_the_published_numbers():
    for line in results.table(prepare.library_rows(primary_machine()))[1:]:
        for ours, peer, ratio, word in ((line[4], line[5], line[7], line[8]), (line[10], line[11], line[12], line[13])):
            if ours is not None:
                assert re.fullmatch(r"\d+\.\d\d", ratio) and float(ratio) == pytest.approx(peer / ours, abs=0.0051)
                assert word == ("level" if abs(peer / ours - 1) <= 0.02 else "won" if peer > ours else "lost")


def test_every_lost_case_of_the_table_is_listed_once_under_its_cause():
    rows = prepare.library_rows(primary_machine())
    behind, of_the_host = (table[1:] for table in results.lost(rows))
    lines = [line for line in results.table(rows)[1:] if "lost" in (line[8], line[13])]
    known = [tuple(line[:4]) for line in behind + of_the_host]
    assert len(known) == len(set(known)) and set(known) == {tuple(line[:4]) for line in lines}
    # The last word has the replay, where there is one.
    assert {tuple(line[:4]) for line in behind} == {tuple(line[:4]) for line in lines if (line[13] or line[8]) == "lost"}
    page = (prepare.DOCS / "about" / "results.md").read_text(encoding="utf-8")
    assert '"docs/generated/results_lost.html"' in page


def test_a_case_is_the_host_s_fault_only_if_its_replay_is_not_behind():
    called = [entry("blockwise", 40), entry("eager", 20)]
    for ours, here in ((10, 1), (40, 0)):
        replayed = [entry("blockwise", ours, "graph"), entry("compile", 18, "graph")]
        tables = results.lost(results.rows(called + replayed, 4e12))
        assert [len(table) - 1 for table in tables] == [1 - here, here]
        assert tables[here][1][4:] == ["0.50", f"{18 / ours:.2f}", "eager" if here else "torch.compile"]
    (_, line), nothing = results.lost(results.rows(called, 4e12))
    assert line[4:] == ["0.50", None, "eager"] and not nothing[1:]
