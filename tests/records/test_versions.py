"""The pages on versions: every program still prints what its page shows, and the tables say what the records hold."""

import csv
import os
import subprocess
import sys

import pytest

from scripts import versions
from scripts.pages import versions as shown
from scripts.provenance import records
from tests import turns

STAND_IN = records.ROOT / "scripts" / "recording" / "stand_in_run.py"


@pytest.fixture(scope="module")
def kept() -> dict[str, dict[str, list[str]]]:
    return {name: records.read(records.record_path("cpu", "printed", name))["printed"] for name in versions.programs()}


def changed(version: str, worker: versions.Worker, names: list[str], kept: dict[str, dict[str, list[str]]]) -> list[str]:
    """The programs that print something else than their records, and the command that renews those."""
    found = []
    for name in names:
        answer = worker.ask(name)
        if answer["printed"] != kept[name][version] or answer["ended"]:
            today = "\n".join([*answer["printed"], answer["ended"]])
            found.append(f"{name}: renew it with python scripts/versions.py {name}; today it prints\n{today}")
    return found


def test_every_program_prints_what_its_page_shows(kept):
    import triton

    with versions.Worker(sys.executable, "printed.py") as worker:
        names = turns.part(versions.programs(), 3, *(f"snippets/{name}.py" for name in versions.programs()))
        assert changed(triton.__version__, worker, names, kept) == []


def test_other_words_and_a_bad_end_are_found(kept):
    import triton

    planted = {"versions/strided": {triton.__version__: ["wrong"]}}
    with versions.Worker(sys.executable, "printed.py") as worker:
        (found,) = changed(triton.__version__, worker, ["versions/strided"], planted)
        ended = worker.ask("versions/no_such_program")["ended"]
    assert "python scripts/versions.py versions/strided" in found and found.endswith("right\n")
    assert "FileNotFoundError" in ended


def test_every_program_ran_under_every_version(kept):
    assert len(kept) >= 15
    for name, printed in kept.items():
        assert list(printed) == versions.matrix.versions(), name
        assert all(printed.values()), name


def test_what_the_interpreter_runs_is_compiled_too():
    """With a driver that stands in for an H200's, which launches nothing, so that numbers mean nothing."""
    names = ["strided", "descriptor", "autotune_names", "end_to_end", "smallest", "last_digit"]
    for name in turns.part(names, 3, *(f"snippets/versions/{name}.py" for name in names)):
        command = [sys.executable, str(STAND_IN), str(records.ROOT / "snippets" / "versions" / f"{name}.py")]
        own = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
        own |= {"PYTHONPATH": str(records.ROOT), "CUDA_VISIBLE_DEVICES": "", "TRITON_DEFAULT_FP_FUSION": "1"}
        done = subprocess.run(command, env=own, capture_output=True, text=True)
        assert done.returncode == 0, f"{name}\n{done.stderr}"


# Tables


def taken(registers: int, sass: int = 10, **changed: int) -> dict[str, int]:
    return {"registers": registers, "spill_bytes": 0, "shared_bytes": 8, "ptx": 20, "sass": sass, "fused": 4} | changed


def record(name: str, **by: dict) -> dict:
    made = {key.replace("_", " ").replace("v", "").replace("x", "."): value for key, value in by.items()}
    return {"name": name, "target": "sm_90", "launches": [{"specimen": f"{name}/call", "launch": {}, "by": made}]}


STEADY = record("steady_kernel", v1x0=taken(32), v2x0=taken(32), v2x0_unfused=taken(32))
GROWN = record("grown_kernel", v1x0=taken(32), v2x0=taken(40, 11), v2x0_unfused=taken(44, 15, fused=0))
SPILLED = record("spilled_kernel", v1x0=taken(255), v2x0=taken(255, spill_bytes=16), v2x0_unfused=taken(255, spill_bytes=16))
REFUSED = record("refused_kernel", v1x0=taken(32), v2x0={"error": "ValueError: no"}, v2x0_unfused={"error": "ValueError: no"})


def test_a_refusal_stands_first_then_spilled_registers_then_the_largest_change():
    head, *rows = shown.changed([STEADY, GROWN, SPILLED, REFUSED])
    assert [row[0] for row in rows] == ["refused_kernel", "spilled_kernel", "grown_kernel"]
    assert rows[0][2] == "32 → refused" and rows[1][3] == "0 → 16" and rows[2][2:] == ["32 → 40", "0", "8", "10 → 11"]
    assert len(head) == len(rows[0])


def test_without_fusion_only_what_differs_is_listed():
    assert shown.unfused([STEADY, GROWN, REFUSED])[1:] == [["grown_kernel", "call", "40 → 44", "0", "11 → 15", "4 → 0"]]


def test_counts_are_of_launches_that_both_versions_compile():
    counts = shown.counts([STEADY, GROWN, SPILLED, REFUSED])
    assert counts["kernels"] == counts["launches"] == 4 and counts["changed"] == 3 and counts["unfused"] == 1
    assert counts["steps"] == {"2.0": {"before": "1.0", "fewer": 0, "more": 1, "same": 1}}


def test_the_published_table_has_a_row_for_each_launch_and_way():
    rows = list(csv.DictReader(shown.table_text([GROWN, REFUSED]).splitlines()))
    assert [(row["kernel"], row["triton"], row["fusion"]) for row in rows[:3]] == [
        ("grown_kernel", "1.0", "1"),
        ("grown_kernel", "2.0", "1"),
        ("grown_kernel", "2.0", "0"),
    ]
    assert rows[1]["registers"] == "40" and rows[4]["registers"] == "" and rows[4]["error"] == "ValueError: no"


def test_each_text_stands_once_under_its_versions():
    same = {"printed": {"3.6.0": ["a"], "3.7.1": ["a"], "3.8.0": ["a"], "3.9.0": ["b", "c"]}}
    text = shown.printed(same)
    assert text.count("```{.text .said}") == 2 and "With Triton 3.6 to 3.8:" in text and "With Triton 3.9:" in text


def test_the_records_are_of_today_s_launches():
    for kernel, launches in versions.launches().items():
        kept_one = records.read(records.record_path("cpu", "versions", kernel))
        assert [entry["specimen"] for entry in kept_one["launches"]] == [launch.name for launch in launches]
        assert all(list(entry["by"]) == [way.name for way in versions.ways()] for entry in kept_one["launches"])


def test_one_kernel_compiles_to_what_its_record_says():
    """With CI's Triton; that the others did is what their records are for."""
    import triton

    (launch, *_), way = versions.launches()["softmax_kernel"], versions.Way(triton.__version__)
    kept_one = records.read(records.record_path("cpu", "versions", "softmax_kernel"))
    with versions.Worker(sys.executable, "by_version.py") as worker:
        assert versions.compiled(worker, launch, way) == kept_one["launches"][0]["by"][way.name]
        assert "error" in worker.ask((launch.name, "sm_1", True))


# The other Triton on a GPU


def timed(triton: str, softmax: float, small: float | None, large: float) -> dict:
    made = {"gpu": "NVIDIA Some", "triton": triton, "commit": "", "measured_at": "2000-01-02T00:00:00Z"}
    rows = []
    for op, who, ms in (("add", "blockwise", 1.0), ("softmax", "blockwise", softmax), ("softmax", "eager", 3.0)):
        case = {"op": op, "direction": "fwd", "shape": "8x8", "dtype": "bf16", "implementation": who, "timing": "call"}
        rows.append(case | {"ms": [ms, ms, ms]})
    small_one = {"kernel": "tiled", "configuration": {"BLOCK_M": 64}, "ms": small} | ({} if small else {"failure": "no"})
    tried = {"8x8x8": [small_one, {"kernel": "tiled", "configuration": {"BLOCK_M": 128}, "ms": large}]}
    return {"environment": made, "timed": rows, "tried": tried}


def test_the_largest_change_of_a_time_stands_first_with_pytorch_beside_it():
    head, *rows = shown.times([timed("1.0", 2.0, 0.1, 0.2), timed("2.0", 1.0, 0.3, 0.2)])
    assert head[4:] == ["blockwise, 1.0", "blockwise, 2.0", "eager, 1.0", "eager, 2.0"]
    assert [row[0] for row in rows] == ["softmax", "add"]
    assert rows[0][4:] == [2000.0, 1000.0, 3000.0, 3000.0] and rows[1][6:] == [None, None]


def test_a_choice_that_flips_and_one_that_fails_are_told():
    rows = shown.flips([timed("1.0", 2.0, 0.1, 0.2), timed("2.0", 1.0, 0.3, 0.2)])[1:]
    assert [row[2] for row in rows] == ["tiled BLOCK_M=64", "tiled BLOCK_M=128"]
    assert rows[1][3:] == [pytest.approx(200.0), pytest.approx(300.0)]
    assert shown.flips([timed("1.0", 2.0, 0.1, 0.2), timed("2.0", 1.0, None, 0.2)])[2][4] == "no time"


def test_the_published_times_have_every_row_and_every_candidate():
    rows = list(csv.DictReader(shown.times_text([timed("1.0", 2.0, None, 0.2)]).splitlines()))
    assert len(rows) == 5 and {row["triton"] for row in rows} == {"1.0"}
    assert rows[3]["configuration"] == "tiled BLOCK_M=64" and rows[3]["ms_p50"] == "" and rows[3]["failure"] == "no"
