"""The gallery of broken kernels: every answer is there or awaited, and a verdict follows from a tool's words alone."""

import subprocess
import sys

import pytest

from scripts import gallery
from scripts.baking import archive
from scripts.pages import gallery as shown
from scripts.provenance import records, sources
from scripts.provenance.environment import primary_machine
from scripts.provenance.programs import gallery_names
from scripts.recording import verdicts
from scripts.recording.verdicts import Ended, Verdict
from tests import turns
from tests.records import freshness

NAMES = gallery_names()
# Asked again here; the first has no mistake that the interpreter sees, the second one, and the compiler refuses the third.
AGAIN = {"mask_forgotten": "silent", "grid_floor": "notices", "broadcast": "refuses"}


def kept(machine: str) -> dict[str, dict]:
    paths = {name: records.record_path(machine, "gallery", name) for name in NAMES}
    return {name: records.read(path) for name, path in paths.items() if path.exists()}


def problems(name: str, record: dict, wanted: tuple[str, ...]) -> list[str]:
    """What is wrong with a record: an answer that is missing, unknown or without words, or a mended kernel that does not work."""
    found = [f"{name}: {tool} was not asked" for tool in wanted if tool not in record["cells"]]
    for tool, cell in record["cells"].items():
        for variant in gallery.VARIANTS:
            verdict, said = cell[variant]
            if verdict not in (verdicts.SILENT, verdicts.NOTICES, verdicts.REFUSES, verdicts.HANGS, verdicts.CANNOT) or not said:
                found.append(f"{name}: {tool} says {verdict!r} of the {variant} one, with the words {said!r}")
        if tool in ("compiler", "interpreter", "page", *gallery.TESTS) and cell["right"][0] not in ("silent", "cannot"):
            found.append(f"{name}: {tool} objects to the mended kernel: {cell['right'][1]}")
    return found


def test_every_answer_of_the_cpu_is_there():
    found = kept("cpu")
    assert sorted(found) == NAMES and len(NAMES) >= 24
    assert [line for name, record in found.items() for line in problems(name, record, shown.ON_CPU)] == []
    assert [name for name, record in found.items() if not sources.is_fresh(record)] == []


def test_every_answer_of_the_gpu_is_there_or_awaited():
    machine = primary_machine()
    found = {name: record for name, record in kept(machine).items() if not freshness.waiting(f"{machine}/noticed/{name}")}
    assert [line for name, record in found.items() for line in problems(name, record, shown.ON_GPU)] == []


@pytest.mark.parametrize("name", turns.part(list(AGAIN), 3, *(f"snippets/gallery/{name}.py" for name in AGAIN)))
def test_an_answer_is_given_again(name):
    record = kept("cpu")[name]
    for way in (gallery.interpreted, gallery.compiled):
        for tool, both in way(name).items():
            again = {variant: list(each) for variant, each in both.items()}
            assert changed(record["cells"][tool], again) == [], f"renew it with python scripts/gallery.py {name}"
    assert record["cells"]["interpreter"]["wrong"][0] == AGAIN[name]


def changed(cell: dict, again: dict) -> list[str]:
    """The variants of which a tool says something else than its record."""
    return [variant for variant in gallery.VARIANTS if cell[variant][0] != again[variant][0]]


def test_a_planted_verdict_is_found():
    cell = kept("cpu")["grid_floor"]["cells"]["interpreter"]
    planted = cell | {"wrong": ["silent", "agrees"]}
    assert changed(cell, cell) == [] and changed(planted, cell) == ["wrong"]


PLANTED = {
    "a missing answer": ({}, "compiler was not asked"),
    "no words": ({"compiler": {"wrong": ["cannot", ""], "right": ["silent", "it compiled"]}}, "with the words ''"),
    "an unknown verdict": ({"compiler": {"wrong": ["", "x"], "right": ["silent", "x"]}}, "says ''"),
    "a mend that fails": ({"odd": {"wrong": ["notices", "x"], "right": ["notices", "it differs"]}}, "objects to the mended"),
}


@pytest.mark.parametrize("cells, message", PLANTED.values(), ids=PLANTED)
def test_a_planted_fault_is_reported(cells, message):
    assert any(message in line for line in problems("x", {"cells": cells}, ("compiler",)))


# The words of each tool, and what follows from them

CRASH = """Traceback (most recent call last):
  File "program.py", line 9, in <module>
torch.AcceleratorError: CUDA error: an illegal memory access was encountered
Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/cuda for more information.
CUDA kernel errors might be asynchronously reported at some other API call.
"""
MEMCHECK = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at double_wrong_kernel+0x120 in mask_forgotten.py:18
odd: it ran
========= ERROR SUMMARY: 24 errors
"""
RACE = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at sum_kernel+0x3b0
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""
ASSERT = "program.py:12: double_wrong_kernel: block: [0,0,0], thread: [0,0,0] Assertion `{}` failed.\n"
REFUSED = """Traceback (most recent call last):
triton.compiler.errors.CompilationError: at 5:12:
    x - total
        ^
ValueError('sides')
"""
SANITIZER = {
    "found": (Ended(0, MEMCHECK, ""), Verdict("notices", "Invalid __global__ write of size 4 bytes")),
    "nothing": (Ended(0, "odd: it ran\n========= ERROR SUMMARY: 0 errors\n", ""), Verdict("silent", "ERROR SUMMARY: 0 errors")),
    "warnings only": (
        Ended(0, "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n", ""),
        Verdict("silent", "RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)"),
    ),
    "a race": (Ended(0, RACE, ""), Verdict("notices", "Error: Race reported between Write access at sum_kernel+0x3b0")),
    "no summary": (Ended(1, "", "error: no device\n"), Verdict("cannot", "it gave no summary: error: no device")),
    "no end": (Ended(None, "========= COMPUTE-SANITIZER\n", ""), Verdict("hangs", "it did not end")),
    "a crash": (
        Ended(1, "========= ERROR SUMMARY: 0 errors\n", CRASH),
        Verdict("notices", "CUDA error: an illegal memory access was encountered"),
    ),
}
VALUES = {
    "agrees": (Ended(0, "own: agrees\nodd: agrees\n", ""), Verdict("silent", "agrees")),
    "differs": (Ended(1, "own: agrees\nodd: 3 of 9 elements differ\n", ""), Verdict("notices", "3 of 9 elements differ")),
    "a crash": (Ended(1, "own: agrees\n", CRASH), Verdict("notices", "CUDA error: an illegal memory access was encountered")),
    "refused": (Ended(1, "", REFUSED), Verdict("refuses", "ValueError('sides')")),
    "no end": (Ended(None, "own: agrees\n", ""), Verdict("hangs", "it did not end")),
    "another error": (Ended(1, "", "ImportError: no numpy\n"), Verdict("cannot", "the run ended with: ImportError: no numpy")),
    "it needs": (Ended(2, "needs: cuda (a GPU)\n", ""), Verdict("cannot", "the run ended with: needs: cuda (a GPU)")),
}
INSTRUMENTED = {
    "a race": (
        Ended(1, ASSERT.format("Write after write race detected"), CRASH),
        Verdict("notices", "Write after write race detected"),
    ),
    "a buffer": (
        Ended(1, "", ASSERT.format("Buffer being accessed has outstanding writes.")),
        Verdict("notices", "Buffer being accessed has outstanding writes."),
    ),
    "nothing": (Ended(0, "odd: it ran\n", "nanobind: leaked 4 instances!\n"), Verdict("silent", "no assertion failed")),
    "no memory": (
        Ended(1, "", "RuntimeError: GSan runtime state has not been mapped\n"),
        Verdict("cannot", "the run ended with: RuntimeError: GSan runtime state has not been mapped"),
    ),
    "no end": (Ended(None, "", ""), Verdict("hangs", "it did not end")),
}
COMPILER = {
    "refused": (Ended(1, "", REFUSED), Verdict("refuses", "ValueError('sides')")),
    "warned": (Ended(0, "odd: it ran\n", "warned: UserWarning: deprecated\n"), Verdict("notices", "UserWarning: deprecated")),
    "taken": (Ended(0, "odd: it ran\n", ""), Verdict("silent", "it compiled")),
    "another error": (Ended(1, "", "ImportError: no numpy\n"), Verdict("cannot", "the run ended with: ImportError: no numpy")),
}


@pytest.mark.parametrize("done, verdict", SANITIZER.values(), ids=SANITIZER)
def test_compute_sanitizer_is_read_by_its_summary(done, verdict):
    assert verdicts.of_sanitizer(done) == verdict


@pytest.mark.parametrize("done, verdict", VALUES.values(), ids=VALUES)
def test_a_comparison_is_read_by_what_the_program_prints(done, verdict):
    assert verdicts.of_values(done, "odd") == verdict


@pytest.mark.parametrize("done, verdict", INSTRUMENTED.values(), ids=INSTRUMENTED)
def test_triton_s_own_sanitizers_are_read_by_their_assertions(done, verdict):
    assert verdicts.of_instrumented(done) == verdict


@pytest.mark.parametrize("done, verdict", COMPILER.values(), ids=COMPILER)
def test_the_compiler_is_read_by_its_errors_and_warnings(done, verdict):
    assert verdicts.of_compiler(done) == verdict


def test_bits_are_compared():
    one, same, other = (Ended(0, f"bits {bits}\nodd: it ran\n", "") for bits in ("aa", "aa", "ab"))
    assert verdicts.of_bits(one, same).verdict == "silent" and verdicts.of_bits(other, same).verdict == "notices"
    assert verdicts.of_bits(Ended(0, "odd: it ran\n", ""), same).verdict == "cannot"
    assert verdicts.of_bits(Ended(1, "", "x\n"), same) == Verdict("cannot", "the run ended with: x")


def test_the_page_is_read_by_its_error_or_by_what_was_printed():
    outside = {"type": "OutsideOfTensors", "message": "load, line 9"}
    said = verdicts.of_page({"done": {"error": outside}, "out": []}, ("odd",))
    assert said == Verdict("notices", "OutsideOfTensors: load, line 9")
    status = {"type": "SystemExit", "message": "status 1"}
    printed = ["odd: agrees", "hard: one NaN: 1 of 9 elements differ, by up to nan"]
    assert verdicts.of_page({"done": {"error": status}, "out": printed}, ("odd", "hard")).verdict == "notices"
    assert verdicts.of_page({"done": {"error": None}, "out": ["odd: agrees"]}, ("odd",)).verdict == "silent"
    stopped = {"type": "Stopped", "message": "it did not end"}
    assert verdicts.of_page({"done": {"error": stopped}, "out": []}, ("odd",)).verdict == "hangs"


def test_words_are_kept_without_what_varies():
    assert verdicts.plain("at 0x7f00deadbeef in /home/reader/tmpab12cd34/x.py") == "at 0x… in x.py"
    assert len(verdicts.plain("x" * 999)) == verdicts.LONGEST


def test_a_run_that_hangs_is_ended_with_its_children():
    nested = f"import subprocess, sys; subprocess.run([{sys.executable!r}, '-c', 'import time; time.sleep(60)'])"
    assert gallery.run([sys.executable, "-c", nested], {}, seconds=1).status is None
    assert gallery.run([sys.executable, "-c", "print(1)"], {}) == Ended(0, "1\n", "")


# What the pages' sentences say of single answers, held against those that are there
CLAIMS = {
    "silent": "mask_forgotten/odd grid_large/odd where_loads/odd other_max/odd strides_assumed/odd exp_overflow/odd "
    "nan_hidden/odd int8_product/odd atomic_order/odd lost_updates/interpreter launch_barrier/interpreter "
    "tf32_product/interpreter mask_forgotten/own mask_total/own grid_floor/own grid_fixed/own "
    "pointer_step/own autotune_key/own in_place_shifted/own",
    "notices": "mask_forgotten/poison grid_large/poison strides_assumed/hard other_max/hard exp_overflow/hard nan_hidden/hard "
    "int8_product/hard mask_one_axis/odd mask_total/odd strides_swapped/own wrong_dimension/own autotune_adds/odd "
    "autotune_key/odd",
    "refuses": "broadcast/compiler broadcast/odd",
}


def refuted(found: dict[str, dict[str, shown.Cell]]) -> list[str]:
    """The sentences that an answer contradicts; one that nobody has given yet, or could give, contradicts nothing."""
    claims = [(claim, verdict) for verdict, all_of in CLAIMS.items() for claim in all_of.split()]
    numbers = [kernel.name for kernel in shown.kernels() if kernel.page == "gallery-numbers" and kernel.name != "broadcast"]
    claims += [(f"{name}/{tool}", "silent") for name in numbers for tool in gallery.SANITIZERS]
    said = {claim: found[claim.partition("/")[0]][claim.partition("/")[2]].verdict for claim, _ in claims}
    wrong = [(claim, verdict) for claim, verdict in claims if said[claim] not in ("", "cannot", verdict)]
    return [f"{claim}: {said[claim]}, and the page says {verdict}" for claim, verdict in wrong]


def test_no_sentence_is_refuted_by_an_answer():
    found = {name: shown.cells(name) for name in NAMES}
    assert refuted(found) == []
    found["nan_hidden"]["memcheck"] = shown.Cell("notices", "x", "", "")
    assert refuted(found) == ["nan_hidden/memcheck: notices, and the page says silent"]


# How the tools are started


@pytest.fixture
def started(monkeypatch):
    """What would be run, in the place of running it; every run says that it agrees."""
    found = []

    def run(command, variables, seconds=60):
        found.append((command, variables))
        agrees = "".join(f"{test}: agrees\n" for test in gallery.TESTS)
        return Ended(0, f"{agrees}bits aa\n========= ERROR SUMMARY: 0 errors\n", "")

    monkeypatch.setattr(gallery, "run", run)
    return found


def test_tests_share_a_process_until_one_crashes(monkeypatch):
    asked = []

    def run(command, variables, seconds=60):
        asked.append(command[2:])
        crashes = command[2:4] == ["wrong", "own"]
        return Ended(1, "own: agrees\n", CRASH) if crashes else Ended(0, "".join(f"{test}: agrees\n" for test in command[3:]), "")

    monkeypatch.setattr(gallery, "run", run)
    found = gallery.tested("mask_forgotten")
    one_by_one = [[variant, test] for test in gallery.TESTS[1:] for variant in ("right", "wrong")]
    assert asked == [["right", *gallery.TESTS], ["wrong", *gallery.TESTS], *one_by_one]
    assert {test: both["wrong"].verdict for test, both in found.items()} == dict.fromkeys(gallery.TESTS, "silent")


def test_every_tool_sees_one_variant_and_its_own_switches(started):
    gallery.sanitized("grid_floor", "memcheck")
    for mode in gallery.MODES:
        gallery.instrumented("grid_floor", mode, "/new")
    gallery.debugged("grid_floor")
    sanitizer, consan, _, gsan, *_ = started[::2]
    assert sanitizer[0][:3] == ["compute-sanitizer", "--tool", "memcheck"] and "PYTORCH_NO_CUDA_MEMORY_CACHING" in sanitizer[1]
    assert consan[1] == {"TRITON_INSTRUMENTATION_MODE": "consan", "PYTHONPATH": f"/new:{records.ROOT}"}
    assert gsan[0][1:3] == ["-m", "triton.tools.gsan"] and gsan[1]["TRITON_INSTRUMENTATION_MODE"] == "gsan"
    assert started[-1][1] == {"TRITON_DEBUG": "1"}
    watched = [command[-4:] for command, _ in started if "bits" not in command]
    assert watched == [[variant, *gallery.WATCHED] for _ in range(len(watched) // 2) for variant in ("right", "wrong")]
    assert [command[2] for command, _ in started if "bits" in command] == ["right", "wrong", "right"]


def test_a_slow_machine_makes_no_kernel_hang(monkeypatch):
    """The mended kernel sets the limit of the wrong one; where it does not end itself, nothing is said of either."""
    clock, limits = iter([0.0, 40.0, 0.0, 2.0]), []
    monkeypatch.setattr(gallery.time, "monotonic", lambda: next(clock))

    def ask(variant, limit):
        limits.append((variant, limit))
        return Ended(0, "odd: agrees\n", "")

    for _ in range(2):
        runs = gallery.both(ask)
    assert limits == [("right", 300), ("wrong", 200.0), ("right", 300), ("wrong", 60)]
    assert gallery.judged(runs | {"wrong": Ended(None, "", "")}, verdicts.of_instrumented)["wrong"].verdict == "hangs"
    monkeypatch.undo()
    stuck = gallery.judged(gallery.both(lambda variant, limit: Ended(None, "", "")), verdicts.of_sanitizer)
    assert stuck["wrong"] == stuck["right"] == Verdict("cannot", "the mended kernel did not end within 300 seconds")


def test_only_a_triton_that_has_them_is_asked_for_its_sanitizers():
    assert all(gallery.has_modes(version) for version in ("3.9.0", "3.10.0+git", "4.0"))
    assert not any(gallery.has_modes(version) for version in ("3.8.0", "", "none"))


@pytest.mark.parametrize(
    "newest, tool, said",
    [("3.8.0", "/bin/compute-sanitizer", "needs: triton>=3.9"), ("3.9.0", None, "needs: compute-sanitizer")],
)
def test_a_machine_that_cannot_ask_a_tool_says_what_it_lacks(monkeypatch, capsys, newest, tool, said):
    """A bake takes such a last line for a reason why there is no record, and no answer is made up."""
    monkeypatch.setattr(gallery, "triton_in", lambda folder: newest)
    monkeypatch.setattr(gallery.shutil, "which", lambda name: tool)
    with pytest.raises(SystemExit) as ended:
        gallery.ask_on_gpu("grid_floor", "/new")
    assert ended.value.code == 2 and capsys.readouterr().out.startswith(said)


def test_a_gpu_is_asked_with_every_tool_that_needs_one(monkeypatch, started):
    monkeypatch.setattr(gallery, "triton_in", lambda folder: "3.9.0")
    monkeypatch.setattr(gallery.shutil, "which", lambda name: f"/bin/{name}")
    found = gallery.ask_on_gpu("grid_floor", "/new")
    assert tuple(found) == shown.ON_GPU and found["gsan"]["triton"] == "3.9.0" != found["memcheck"]["triton"]
    assert found["own"]["wrong"][0] == "silent"


def test_a_triton_that_runs_no_kernel_here_is_told_before_it_is_asked(monkeypatch):
    ends = iter([Ended(1, "", "Traceback\nRuntimeError: no assembler\n"), Ended(None, "", ""), Ended(0, "odd: agrees\n", "")])
    monkeypatch.setattr(gallery, "run", lambda command, variables: next(ends))
    assert [gallery.broken("/new") for _ in range(3)] == ["RuntimeError: no assembler", "it said nothing", ""]


def test_records_are_kept_and_carried(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "BAKED", tmp_path)
    monkeypatch.setattr(records.record_path, "__defaults__", (tmp_path,))
    both = dict.fromkeys(gallery.VARIANTS, Verdict("silent", "agrees"))
    ways = [lambda name, tool=tool: {tool: both} for tool in reversed(shown.ON_CPU)]
    assert not gallery.is_current("grid_floor")
    found = gallery.cells(gallery.asked("grid_floor", ways, 2), dict.fromkeys(shown.TOOLS, "3.7.1"))
    assert list(found) == [tool for tool in shown.TOOLS if tool in shown.ON_CPU], "in the order of the table"
    gallery.write("grid_floor", {"page": found["page"]})
    assert not gallery.is_current("grid_floor")
    gallery.write("grid_floor", found)
    assert gallery.is_current("grid_floor")
    assert archive.pack("cpu", tmp_path / "x.tgz", tmp_path) == 1
    (laid,) = archive.unpack(tmp_path / "x.tgz", tmp_path / "other")
    assert laid == tmp_path / "other/cpu/noticed/grid_floor.json"


# What pages make of it


def test_every_program_has_its_section():
    assert sorted(kernel.name for kernel in shown.kernels()) == NAMES
    assert len({kernel.page for kernel in shown.kernels()}) == 4


def test_the_table_has_a_cell_for_each_tool_and_words_in_each():
    text = shown.table()
    assert text.count("<th scope=row>") == len(NAMES)
    assert text.count('<td class="') == text.count('class="bw-said"') == len(NAMES) * len(shown.TOOLS)
    assert set(shown.ON_GPU) | set(shown.ON_CPU) == set(shown.TOOLS)
    assert len(shown.TOOLS) == 17  # so many as the page's description says


def test_a_false_alarm_shows():
    cell = shown.cell({"wrong": ["silent", "x"], "right": ["notices", "Read after write race detected"], "triton": "3.9.0"})
    assert shown.spoken(cell) == "silent, and a false alarm" and shown.ALARM in shown.cell_html(cell)
    assert "not asked yet" in shown.cell_html(shown.cell(None))


def test_the_first_tools_are_those_that_add_most():
    def made(*loud: str) -> dict[str, shown.Cell]:
        return {tool: shown.Cell("notices" if tool in loud else "silent", "x", "", "") for tool in shown.TOOLS}

    steps = shown.first({"a": made("odd", "own"), "b": made("odd"), "c": made("gsan", "consan"), "d": made()})
    assert [(step["tool"], step["adds"], step["so_far"]) for step in steps] == [("odd", 2, 2), ("consan", 1, 3)]


def test_a_mend_is_the_lines_that_differ():
    for name in NAMES:
        lines = shown.mend(name).splitlines()
        changed = [line for line in lines if line[:1] in "+-"]
        assert changed and len(lines) <= 16 and "the mistake" not in shown.mend(name), name


def test_the_command_names_what_there_is():
    done = subprocess.run([sys.executable, "scripts/gallery.py", "gone"], cwd=records.ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "mask_forgotten" in done.stderr
