"""The ledger of claims: every verdict is what a judge finds in the records, and every judge can find another."""

import copy
import csv
import dataclasses
import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kernels.matmul.plan import choose_plan
from scripts import ROOT
from scripts.claims import judges_libraries, ledger
from scripts.claims.evidence import Evidence
from scripts.claims.verdicts import CANNOT, FALSE, JUDGED, TRUE, UNMEASURED, UNTESTED, VERDICTS
from scripts.pages import claims, claims_chart
from scripts.provenance import records
from scripts.provenance.environment import primary_machine

FOUND = ledger.entries()
BY_JUDGE = {claim.fields["judge"]: claim for claim in FOUND if "judge" in claim.fields}
Record = dict[str, Any]


def fields_of(name: str) -> dict[str, str]:
    return next(claim.fields for claim in FOUND if claim.id == name)


def test_every_page_says_what_the_records_say():
    said = ledger.problems(FOUND)
    assert not said, "\n".join(said)


def test_the_ledger_is_long_and_every_claim_has_its_source():
    assert len(FOUND) >= 60
    assert len({claim.id for claim in FOUND}) == len(FOUND)
    assert {claim.verdict for claim in FOUND} <= set(VERDICTS)
    for claim in FOUND:
        url = claim.fields.get("url", "https://")
        assert url.startswith("https://") and claim.fields["source"] and len(claim.fields["claim"].split()) <= 40, claim.id
        quoted = re.findall(r"“(.+?)”", claim.fields["claim"])
        assert all(len(words.split()) <= 12 for words in quoted), claim.id
        assert (ROOT / "docs" / f"{claim.fields['more']}.md").exists(), claim.id


def test_pages_and_claims_belong_together():
    listed = re.findall(r": claims/(\w+)\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert listed == ["index", *ledger.PAGES]
    assert {path.stem for path in ledger.FOLDER.glob("*.toml")} == set(ledger.PAGES)
    for page in ledger.PAGES:
        assert f"# {ledger.page_data(page)['title']}\n" in (ledger.FOLDER / f"{page}.md").read_text(encoding="utf-8")


def test_every_judge_serves_one_claim_and_says_its_rule():
    named = [claim.fields["judge"] for claim in FOUND if "judge" in claim.fields]
    assert len(set(named)) == len(named)
    for name in named:
        assert re.match(r"(True|False) ", ledger.judge_of(name).__doc__ or ""), name


def test_products_in_gluon_are_those_that_the_plan_gives_to_it():
    kinds = {"bf16": "half", "fp16": "half"}
    for cell in judges_libraries.products(Evidence()):
        m, n, k = cell.sides
        kernel = choose_plan(m, k, n, kinds[cell.dtype], "rows", "rows", "sm_90", 132).kernel
        assert (kernel == "gluon") == (cell.shape in judges_libraries.BY_GLUON), cell.shape


@pytest.mark.parametrize("verdict", [TRUE, FALSE, UNMEASURED, UNTESTED])
def test_a_planted_verdict_is_noticed(verdict):
    planted = fields_of("cublas-on-par") | {"verdict": verdict}
    claim = ledger.judged("libraries", planted, Evidence())
    said = ledger.problems([claim])
    assert bool(said) == (verdict != FALSE)
    if said:
        assert "docs/claims/libraries.toml, cublas-on-par" in said[0] and repr(verdict) in said[0] and repr(FALSE) in said[0]


def test_a_verdict_without_a_judge_is_no_verdict():
    by_hand = {key: value for key, value in fields_of("cublas-on-par").items() if key != "judge"}
    assert ledger.problems([ledger.judged("libraries", by_hand, Evidence())])
    assert not ledger.problems([ledger.judged("libraries", by_hand | {"verdict": CANNOT}, Evidence())])


def test_a_condition_belongs_to_true_if():
    assert ledger.problems([ledger.judged("libraries", fields_of("cublas-on-par") | {"if": "it rains"}, Evidence())])
    bare = {key: value for key, value in fields_of("tuned-on-disk").items() if key != "if"}
    assert ledger.problems([ledger.judged("tuning", bare, Evidence())])


def test_without_records_nothing_is_judged(tmp_path):
    for claim in BY_JUDGE.values():
        empty = ledger.judged(claim.page, claim.fields, Evidence(baked=tmp_path))
        assert (empty.found, empty.said("says"), empty.said("if")) == (UNMEASURED, "", ""), claim.id
        waiting = ledger.judged(claim.page, claim.fields | {"verdict": UNMEASURED}, Evidence(baked=tmp_path))
        assert ledger.problems([empty]) and not ledger.problems([waiting]), claim.id


def test_a_figure_that_no_judge_gives_stops_the_build():
    claim = ledger.judged("libraries", fields_of("cublas-on-par") | {"says": "It is [= nowhere | percent =]."}, Evidence())
    with pytest.raises(records.RecordError, match="libraries.toml, cublas-on-par"):
        claim.said("says")
    with pytest.raises(records.RecordError, match="needs a filter"):
        ledger.bind("[= median =]", {"median": 0.9}, "here")
    with pytest.raises(records.RecordError, match="no judge 'nobody'"):
        ledger.judge_of("nobody")


# Every judge can find something else. A record is changed in one way at a time, until the verdict is another one.


@dataclasses.dataclass
class Changed(Evidence):
    """Evidence whose records are changed on their way."""

    change: Callable[[Record], None]

    def __post_init__(self) -> None:
        super().__init__()

    def record(self, kind: str, name: str, machine: str = "") -> Record:
        found = copy.deepcopy(super().record(kind, name, machine))
        self.change(found)
        return found


def numbers(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: numbers(part, change) for key, part in value.items()}
    if isinstance(value, list):
        return [numbers(part, change) for part in value]
    return change(value)


def times(factor: float, *names: str, direction: str = "") -> Callable[[Record], None]:
    """The times of some implementations, and what was counted of them, by a factor."""

    def change(record: Record) -> None:
        for row in [*record.get("measurements", []), *record.get("counters", [])]:
            if row["implementation"] in names and direction in ("", row.get("direction")):
                for key in ("ms", "dram_read_bytes", "dram_write_bytes"):
                    if key in row:
                        row[key] = [ms * factor for ms in row[key]] if isinstance(row[key], list) else row[key] * factor

    return change


def figures(change: Callable[[Any], Any]) -> Callable[[Record], None]:
    def changed(record: Record) -> None:
        if "figures" in record:
            record["figures"] = numbers(record["figures"], change)

    return changed


def output(pattern: str, into: str) -> Callable[[Record], None]:
    def changed(record: Record) -> None:
        if "output" in record:
            record["output"] = re.sub(pattern, into, "\n".join(record["output"]), flags=re.M).split("\n")

    return changed


def only(path: str, value: Any) -> Callable[[Record], None]:
    """One thing of a record, at the end of a path of keys; each `*` stands for all keys."""

    def put(part: Any, keys: list[str]) -> None:
        for key in list(part) if keys[0] == "*" else [keys[0]]:
            if len(keys) > 1:
                put(part[key], keys[1:])
            else:
                part[key] = value(part[key]) if callable(value) else value

    def changed(record: Record) -> None:
        if path.split(".")[0] in record:
            put(record, path.split("."))

    return changed


def words(change: Callable[[str], str]) -> Callable[[Record], None]:
    return only("said.compiler.*", lambda texts: [change(text) for text in texts])


def ours(factor: float) -> Callable[[Record], None]:
    return times(factor, "blockwise", "blockwise_nn", "stages", "whole", "triton", "row", "fused", "folded", "host", "relaxed")


def copied(record: Record) -> None:
    """A copy that is far faster than anything measured."""
    if "ceilings" in record:
        record["ceilings"]["copy"]["ms"] = [ms / 10 for ms in record["ceilings"]["copy"]["ms"]]


def stretched(record: Record) -> None:
    """Each case slower than the one before it, whatever is timed."""
    for at, row in enumerate(record.get("measurements", [])):
        row["ms"] = [ms * (1 + at) for ms in row["ms"]]


CHANGES: dict[str, Callable[[Record], None]] = {
    "ours slower": ours(20), "ours faster": ours(1 / 20), "ours a little slower": ours(1.15), "ours slower by a third": ours(1.5),
    "theirs slower": times(20, "eager", "cuda", "unfused", "flash", "cudnn", "ordered", "scaled_mm_tensor_fast"),
    "chain slower": times(0.5, "unfused"), "chain still slower": times(0.75, "unfused"), "copy faster": copied,
    "stretched": stretched,
    "one each faster": times(1 / 20, "one_each"),
    "numbers to nothing": figures(lambda value: 0 if isinstance(value, int | float) and not isinstance(value, bool) else value),
    "numbers to one": figures(lambda value: 1 if isinstance(value, int | float) and not isinstance(value, bool) else value),
    "yes is no": figures(lambda value: not value if isinstance(value, bool) else value),
    "numbers fall": figures(lambda value: value / 30 if isinstance(value, float) else value),
    "numbers rise": figures(lambda value: value * 30 if isinstance(value, float) else value),
}  # fmt: skip
# What only changes of its own can turn.
OWN: dict[str, Callable[[Record], None]] = {
    "attention_cuda_leads": times(1 / 20, "flash"),
    "extra_passes": output(r"^(gelu .*)$", r"\1\n\1"),
    "rows_of_57k": output(r" 0$", " 8"),
    "compile_one_kernel": only("figures.*.default.kernels", 1),
    "threads_are_elements": output(r"^( *)(\d+)( +\d+ +)\d+", r"\1\2\3\2"),
    "tile_in_shared": output(r"^(add +)0", r"\g<1>64"),
    "one_thread_block": output(r"\d+ thread blocks? a", "1 thread block a"),
    "no_synchronization": output(r"\d+ of (\d+) programs wrong", r"0 of \1 programs wrong"),
    "programs_cannot_talk": output(r"gave up: 0", "gave up: 3"),
    "unmasked_is_noticed": output(r"the neighbor: [\d,]+", "the neighbor: 0"),
    "masked_lanes_are_zero": output(r"mov\.u32 %r1, 0x0;", ""),
    "masks_not_branches": output(r"^on_a_number.*", "on_a_number: refused"),
    "minus_infinity": output(r"^other=-inf.*", "other=-inf    -2.0 -inf inf"),
    "dot_sides_16": words(lambda text: text.replace("M >= 1,", "M >= 16,")),
    "powers_of_two_are_best": words(lambda _: "no error"),
    "messages_help": words(lambda _: "no error"),
    "debugging_is_easy": only("cells.interpreter.wrong", ["silent"]),
    "two_aranges": output(r"^16 of", "0 of"),
    "row_plus_column_stride": output(r"x transposed: True", "x transposed: False"),
    "compiled_per_shape": output(r"same as", "variant"),
    "constants_unroll": output(r"loops 1", "loops 0"),
    "tuned_on_real_inputs": output(r"two: False", "two: True"),
    "specialization_blackwell_only": only("figures.divided", False),
    "tuner_finds_fastest": only("figures.rows", lambda rows: [row | {"wins": 1} for row in rows]),
    "python_quotient": output(r"^kernel: .*", "kernel: [-2, -1, -1, 0, 0, 1]"),
    "loop_variable_lives": output(r"after it: \d+", "after it: 896"),
    "do_bench_median": output(r"nearer to the mean", "nearer to the median"),
    "eighty_for_twenty": only("figures.lines", {"triton": 10, "cuda": 100}),
    "lines_50_and_500": only("figures.lines", {"triton": 60, "cuda": 600}),
    "older_choice": only("figures.shapes.*.rows", lambda rows: [row | {"us": 1.0} for row in rows]),
    "larger_moves_less": lambda record: only_counters(record),
    "effort_pays": lambda record: by_lines(record),
    "irregular_10x": ours(30),
    "coalescing_for_all": lambda record: by_bytes(record),
    "start_with_64": times(0.1, "block128"),
    "larger_is_better": times(0.001, "block32"),
    "always_mask": times(0.1, "masked"),
    "grouping_gains_10": times(0.1, "group_8"),
    "half_at_2048": times(20, "group_8"),
    "static_range_is_faster": output(r"^(TTGIR: loops 1.*jumps) 0", r"\1 1"),
    "bank_conflicts": lambda record: without_conflicts(record),
    "another_version": lambda record: one_version(record),
    "descriptors_faster": times(0.5, "host"),
    "persistent_foreign": times(0.5, "host"),
    "occupancy_first": lambda record: capped(record),
    "later_calls_are_free": only("figures.looked_up_us", 0.1),
    "no_guesswork": only("figures.without_8192.us", 1.0),
    "beyond_the_copy": copied,
    "depth_fills_registers": only("figures.shapes.*.rows", lambda rows: [row | {"registers": row["block_k"]} for row in rows]),
    "stages_cost_registers": only("figures.shapes.*.rows", lambda rows: [row | {"registers": row["num_stages"]} for row in rows]),
    "warps_share_memory": only("figures.shapes.*.rows", lambda rows: [row | {"shared": -row["num_warps"]} for row in rows]),
    "dot_is_tensor_cores": only("figures.mma_sync", 8),
}  # fmt: skip


def only_counters(record: Record) -> None:
    for at, entry in enumerate(record.get("counters", [])):
        entry["dram_read_bytes"] //= at + 1


def by_lines(record: Record) -> None:
    """Longer programs are faster, whatever they are."""
    lines = record.get("figures", {}).get("lines", {})
    for row in record.get("measurements", []):
        row["ms"] = [1.0 / lines.get(row["implementation"], 1)] * 3


def without_conflicts(record: Record) -> None:
    for launch in record.get("launches", []):
        for access in launch.get("shared", []):
            access["taken"] = access["needed"]


def one_version(record: Record) -> None:
    for launch in record.get("launches", []):
        launch["by"] = dict.fromkeys(launch["by"], next(iter(launch["by"].values())))


def by_bytes(record: Record) -> None:
    """The same rate for all."""
    for row in record.get("measurements", []):
        row["ms"] = [row["bytes"] / 1e9] * 3


def capped(record: Record) -> None:
    for row in record.get("measurements", []):
        row["ms"] = [ms * (0.1 if "_cap" in row["implementation"] else 1) for ms in row["ms"]]


def changes(name: str) -> Iterator[tuple[str, Callable[[Record], None]]]:
    if name in OWN:
        yield "its own", OWN[name]
    yield from CHANGES.items()


@pytest.mark.parametrize("name", BY_JUDGE)
def test_another_record_gives_another_verdict(name):
    claim = BY_JUDGE[name]
    tried = {}
    for words_, change in changes(name):
        try:
            found = ledger.judged(claim.page, claim.fields, Changed(change))
        except (records.RecordError, ZeroDivisionError, TypeError) as error:
            tried[words_] = str(error)
            continue
        if found.found != claim.found:
            assert found.found in JUDGED
            assert name in OWN or words_ in CHANGES
            return
        tried[words_] = found.found
    pytest.fail(f"{name} gives {claim.found!r} whatever the records say: {tried}")


# What readers see


def test_a_section_says_who_and_why_and_by_which_rule():
    text = claims.sections("tuning", FOUND)
    for claim in FOUND:
        if claim.page == "tuning":
            assert f"{{ #{claim.id} }}" in text and claim.fields["claim"] in text and claim.rule in text
            named = [name for name in claim.programs if not name.startswith("by_version/")]
            assert all(f"({'../programs/'}{name}.py)" in text for name in named)
    assert "[=" not in text


def test_of_many_programs_a_section_gives_the_number():
    said = claims.programs_said(next(claim for claim in FOUND if claim.id == "messages-help"))
    assert re.fullmatch(r"\d+ of \[the error index\]\(\.\./errors/index\.md\)", said)


def test_the_counts_and_the_table_are_of_all():
    counts = claims.counts(FOUND)
    assert sum(counts[verdict.replace(" ", "_")] for verdict in VERDICTS) == counts["claims"] == len(FOUND)
    assert claims.table_html(FOUND).count("<tr data-verdict") == len(FOUND)
    assert [entry["id"] for entry in claims.data(FOUND)] == [claim.id for claim in FOUND]


def test_the_chart_holds_every_recorded_product():
    drawn = claims_chart.chart([primary_machine()])
    path = records.record_path(primary_machine(), "program", "hopper/benchmark")
    rows = [row for row in records.read(path)["measurements"] if row["op"] == "mm" and row["timing"] == "graph"]
    ms = {(row["shape"], row["dtype"], row["implementation"]): row["ms"][1] for row in rows}
    shown = {(row[1], row[2]): row[4] for row in drawn["rows"] if row[3] == "chosen"}
    for shape, dtype, name in ms:
        if name == "blockwise_nn":
            assert shown[shape, dtype] == round(ms[shape, dtype, "eager"] / ms[shape, dtype, name], 4)
    assert {(row["shape"], row["dtype"]) for row in rows} <= shown.keys()
    table = list(csv.reader(io.StringIO("\n".join(",".join(map(str, row)) for row in drawn["rows"]))))
    assert all(len(row) == len(drawn["columns"]) for row in table)
    for variant in ("wide", "narrow"):
        svg = claims_chart.drawing(drawn, variant)
        discs = [row for row in drawn["rows"] if row[3] != "alone"]
        assert svg.count("<circle") == len(discs) + 2  # and two in the legend
        assert svg.count("h6.4v6.4") == len(drawn["rows"]) - len(discs) + 1 > 1
        assert drawn == json.loads(json.dumps(drawn)) and svg == claims_chart.drawing(drawn, variant)


def test_a_second_card_stands_beside_the_first(tmp_path, monkeypatch):
    read = ("benchmark", "benchmark_skinny", "wide_tile", "one_wave", "tail", "features")
    for name in (*(f"hopper/{name}" for name in read), "matmul_ladder/benchmark"):
        record = records.read(records.record_path(primary_machine(), "program", name))
        records.write(records.record_path(primary_machine(), "program", name, tmp_path), record)
        record["environment"] |= {"gpu": "NVIDIA A100-SXM4-80GB"}
        records.write(records.record_path("another", "program", name, tmp_path), record)
    drawn = claims_chart.chart([primary_machine(), "another", "none"], tmp_path)
    first, second = ([row[1:5] for row in drawn["rows"] if row[0].startswith(gpu)] for gpu in ("NVIDIA H200", "NVIDIA A100"))
    assert first == second and first
    assert all(row[5] is None for row in drawn["rows"] if row[0].startswith("NVIDIA A100")), "the sheet is another one"
    svg = claims_chart.drawing(drawn, "wide")
    assert all(gpu in svg for gpu in ("NVIDIA H200", "NVIDIA A100-SXM4-80GB"))
    assert claims_chart.chart(["none"], tmp_path) == {}
