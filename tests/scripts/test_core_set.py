"""The core set: what somebody with another card bakes, and what is refused of what they send. Its programs only print here."""

import copy
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts.baking import archive, core, plausible, runs
from scripts.provenance import programs, records, sources
from scripts.provenance.environment import primary_machine
from scripts.provenance.follow import Code
from scripts.provenance.records import RecordError
from tests.scripts import trees

A_CARD = "Test GPU 9"
MACHINE = "test-gpu-9"
OPERATIONS = (
    "add softmax layer_norm rms_norm cross_entropy rotary_embedding swiglu geglu gelu dropout sum max histogram matmul attention"
)
PARTS = {part.program: part for part in core.PARTS}


# The list


def test_the_set_has_every_operation_once_and_its_reasons():
    assert {operation for part in core.PARTS for operation in part.operations} == {*OPERATIONS.split(), "hardware"}
    assert set(OPERATIONS.split()) <= {*sources.public_functions()}
    assert len(PARTS) == len(core.PARTS) and all(part.why for part in core.PARTS)


@pytest.mark.parametrize("part", core.PARTS, ids=PARTS)
def test_a_part_runs_on_any_card_without_other_tools_and_fits(part):
    assert programs.needs_of(part.program) == "cuda"
    assert not any(programs.header(part.program, asked) for asked in ("counters", "sanitizer", "sanitizers"))
    path = records.record_path(primary_machine(), "program", part.program)
    largest = max((row["bytes"] for row in records.read(path).get("measurements", [])), default=0)
    assert largest / 2**30 + 1 < part.gib <= core.ROOM


def test_what_a_card_has_no_room_for_is_told():
    assert core.no_room(core.ROOM) == {}
    assert core.no_room(11.5)["dropout/benchmark"] == "it holds up to 14 GiB, and the card has 11.5"
    assert "reductions/benchmark_max" not in core.no_room(11.5)
    assert 0.28 < len(core.no_room(11.6)) / len(PARTS) < 0.38, "the page says of a card with 12 GB: a third"


# A bake of it


@pytest.fixture
def tree(tmp_path) -> Path:
    """A checkout whose core set only prints."""
    tree = trees.checkout(tmp_path / "tree")
    trees.put(tree, {f"snippets/{name}.py": f"print({name!r})\n" for name in PARTS})
    return tree


def bake(tree: Path, *more: str, **variables: str) -> tuple[int, list[str]]:
    done = trees.bake(tree, "--set", "core", *more, A_GPU=A_CARD, **variables)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def manifest(tree: Path) -> dict[str, Any]:
    with tarfile.open(tree / f"{MACHINE}-core.tgz") as tar:
        return json.load(tar.extractfile(archive.MANIFEST))


def test_one_command_ends_in_one_file_and_what_to_do_with_it(tree):
    status, lines = bake(tree)
    assert status == 0, lines
    assert lines[-4] == f"packed {len(PARTS)} records into {MACHINE}-core.tgz. What to do with it:"
    assert [line[:4] for line in lines[-3:]] == ["  1.", "  2.", "  3."] and f"--check {MACHINE}-core.tgz" in lines[-3]
    assert not list((trees.baked(tree) / MACHINE / "tiny").glob("*")), "no more than the set"
    checked = trees.bake(tree, "--check", f"{MACHINE}-core.tgz", NO_TORCH="1")
    assert checked.returncode == 0 and f"{len(PARTS)} records of an {A_CARD}" in checked.stdout
    other = trees.checkout(tree.parent / "other")
    trees.put(other, {f"snippets/{name}.py": f"print({name!r})\n" for name in PARTS})
    assert trees.bake(other, "--unpack", str(tree / f"{MACHINE}-core.tgz"), NO_TORCH="1").returncode == 0
    assert trees.snapshot(trees.baked(other)) == trees.snapshot(trees.baked(tree))


def test_what_a_card_cannot_run_is_absent_and_not_failed(tree):
    trees.put(
        tree,
        {
            "snippets/rope/benchmark.py": "import sys\nprint('needs: sm_90 (a newer card)')\nsys.exit(2)\n",
            "snippets/norms/benchmark.py": "raise type('OutOfMemoryError', (Exception,), {})('Tried to allocate 9 GiB')\n",
            "snippets/dropout/benchmark.py": "raise RuntimeError('Triton Error [CUDA]: out of memory')\n",
        },
    )
    status, lines = bake(tree, GIB="15")
    expected = {
        "inductor/benchmark": "it holds up to 16 GiB, and the card has 15.0",
        "gated_activations/benchmark": "it holds up to 19 GiB, and the card has 15.0",
        "gated_activations/benchmark_gelu": "it holds up to 16 GiB, and the card has 15.0",
        "rope/benchmark": "needs: sm_90 (a newer card)",
        "norms/benchmark": "the card's memory ran out",
        "dropout/benchmark": "the card's memory ran out",
    }
    assert status == 0 and manifest(tree)["absent"] == expected
    assert {f"  {name}: {reason}" for name, reason in expected.items()} <= set(lines)
    checked = trees.bake(tree, "--check", f"{MACHINE}-core.tgz").stdout.splitlines()
    assert checked[-6:] == [f"absent: {name}: {reason}" for name, reason in sorted(expected.items())]


def test_another_card_may_take_longer():
    assert runs.limit_on("cpu") == runs.limit_on(primary_machine()) < runs.limit_on(MACHINE)


def test_a_gpu_that_went_away_is_a_failure(tree):
    trees.put(tree, {"snippets/rope/benchmark.py": "import sys\nprint('needs: cuda (an NVIDIA GPU)')\nsys.exit(2)\n"})
    status, lines = bake(tree)
    assert status == 1 and any("rope/benchmark: ended with status 2" in line for line in lines)


def test_shared_memory_that_is_too_small_is_a_failure(tree):
    said = "No valid triton configs. OutOfMemoryError: out of resource: kernel Required: 245760 Hardware limit: 232448"
    trees.put(tree, {"snippets/rope/benchmark.py": f"raise RuntimeError({said!r})\n"})
    status, lines = bake(tree)
    assert status == 1 and any("rope/benchmark: ended with status 1" in line for line in lines)


def test_what_fails_leaves_no_archive_and_the_same_command_goes_on(tree):
    trees.put(tree, {"snippets/rope/benchmark.py": "raise ValueError('no luck')\n"})
    status, lines = bake(tree)
    assert status == 1 and not list(tree.glob("*.tgz")) and any("rope/benchmark: ended with status 1" in line for line in lines)
    assert lines[-2].startswith("No archive is written yet.")
    trees.put(tree, {"snippets/rope/benchmark.py": "print(1)\n"})
    status, lines = bake(tree)
    assert status == 0 and sum("done before the interruption" in line for line in lines) == len(PARTS) - 1
    assert (tree / f"{MACHINE}-core.tgz").exists()


def test_a_plan_says_what_would_run_and_runs_nothing(tree):
    trees.lay(tree, "norms/benchmark", trees.PRIMARY, seconds=90.0)
    before = trees.snapshot(tree)
    status, lines = bake(tree, "--plan", GIB="15")
    assert status == 0 and lines[-1].startswith(f"in all {len(PARTS) - 3} records, about ")
    assert lines[-1].endswith(f" on 1 x {MACHINE}, if that takes as long as on an {trees.PRIMARY}")
    assert trees.snapshot(tree) == before


def test_the_set_is_a_whole_of_its_own(tree):
    for more in (("--cpu",), ("--several",), ("--only", "rope/*"), ("--pack", "x.tgz")):
        status, lines = bake(tree, *more)
        assert status == 2 and "--set core is a whole of its own" in lines[-1]


# What is refused of what is sent: the primary's own records, of which one says something that cannot be

Records = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def good() -> Records:
    """The core set of the primary machine, as today's code would have made it."""
    code, found = Code(), {}
    for name in PARTS:
        record = records.read(records.record_path(primary_machine(), "program", name))
        place = records.record_path(primary_machine(), "program", name, Path()).as_posix()
        found[place] = record | {"hash": sources.digest_of("program", name, code)}
    return found


def send(folder: Path, found: Records, **said: Any) -> Path:
    contents = {name: json.dumps(record).encode() for name, record in found.items()}
    archive.write(folder / "sent.tgz", primary_machine(), contents, {"set": "core", "absent": {}} | said)
    return folder / "sent.tgz"


def test_what_is_right_is_taken(tmp_path, good):
    said = archive.check(send(tmp_path, good))
    assert said[0].endswith(f"{len(PARTS)} records of an NVIDIA H200, of this checkout's code, plausible, and complete")
    assert said[2] == "held against a bus of 4,814 GB/s, and 1,071 TFLOP/s of 16-bit floats" and len(said) == 3


def test_every_record_of_the_primary_is_plausible():
    found = {str(path): record for path, record in records.all_records(primary_machine())}
    assert list(plausible.faults(found)) == []
    alone = {name: record for name, record in found.items() if record["name"] not in core.NEVER_ABSENT}
    assert len(alone) == len(found) - 2 and list(plausible.faults(alone)) == [], "without its sheet, by its own ceilings"


def row(found: Records, name: str, **wanted: Any) -> dict[str, Any]:
    rows = next(record for record in found.values() if record["name"] == name)["measurements"]
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def faster(times: float, name: str, **wanted: Any) -> Callable[[Records], None]:
    def change(found: Records) -> None:
        changed = row(found, name, **wanted)
        changed["ms"] = [ms / times for ms in changed["ms"]]

    return change


def set_in(name: str, *path: Any, value: Any) -> Callable[[Records], None]:
    def change(found: Records) -> None:
        inner: Any = next(record for record in found.values() if record["name"] == name)
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value

    return change


def removed(*names: str) -> Callable[[Records], None]:
    def change(found: Records) -> None:
        for place in [place for place, record in found.items() if record["name"] in names]:
            del found[place]

    return change


NORM, PRODUCT = "norms/benchmark", "attention_peers/forward"
FAULTS: dict[str, tuple[Callable[[Records], None], dict[str, Any], str]] = {
    "other code": (set_in(NORM, "hash", value="0"), {}, rf"1 of {len(PARTS)} records come from other code .*{NORM}\.json"),
    "a bandwidth over the bus": (
        faster(1.4, "first_kernel/benchmark", shape="268435456", implementation="blockwise"),
        {},
        r"first_kernel/benchmark\.json: add fwd 268435456 fp32 by blockwise moves \S+ GB/s, over the card's 5,055",
    ),
    "a small case over what the cache explains": (
        faster(9, NORM, shape="4096x1024", direction="fwd", implementation="blockwise"),
        {},
        rf"{NORM}\.json: layernorm fwd 4096x1024 fp16 by blockwise moves \S+ GB/s, over the card's 10,109",
    ),
    "operations over the peak": (
        faster(1.7, PRODUCT, op="attention", shape="1x8x16384x256", implementation="blockwise"),
        {},
        rf"{PRODUCT}\.json: attention fwd \S+ bf16 by blockwise does \S+ TFLOP/s, over the card's 1,124",
    ),
    "a bus that the copy does not know": (
        set_in("memory/levels", "figures", "bus_gbps", value=48140),
        {},
        r"benchmark\.json: its copy moves 4,\d+ GB/s, on a bus of 48,140",
    ),
    "a copy over the bus": (
        set_in(NORM, "ceilings", "copy", "ms", value=[0.1, 0.1, 0.1]),
        {},
        rf"{NORM}\.json: its copy moves 21,475 GB/s, on a bus of 4,814",
    ),
    "a product over the peak": (
        set_in(NORM, "ceilings", "matmul", "ms", value=[0.9, 0.9, 0.9]),
        {},
        rf"{NORM}\.json: its product does 1,222 TFLOP/s, over the card's 1,071",
    ),
    "bytes that are not the law's": (
        set_in(NORM, "measurements", 0, "bytes", value=7),
        {},
        rf"{NORM}\.json: layernorm fwd 8192x4096 bf16 by blockwise moves 7 bytes, which is not its law's",
    ),
    "a shape of other sides": (
        set_in(NORM, "measurements", 0, "shape", value="8192x4096x2"),
        {},
        rf"{NORM}\.json: layernorm fwd 8192x4096x2 bf16 by blockwise moves \S+ bytes, which is not its law's",
    ),
    "times out of order": (
        set_in(NORM, "measurements", 0, "ms", value=[0.2, 0.1, 0.3]),
        {},
        rf"{NORM}\.json: layernorm \S+ \S+ bf16 by blockwise has no times that can be",
    ),
    "no time at all": (set_in(NORM, "measurements", 0, "ms", value=[0, 0.1, 0.3]), {}, rf"{NORM}\.json: .* no times that can be"),
    "another card's name": (
        set_in(NORM, "environment", "gpu", value="NVIDIA L4"),
        {},
        rf"{NORM}\.json: made on an NVIDIA L4, which is not {primary_machine()}",
    ),
    "figures of another form": (
        set_in("hardware/sheet", "figures", "memory_bytes", value="much"),
        {},
        "has not the form of what a program keeps",
    ),
    "another form": (set_in(NORM, "measurements", value=[1]), {}, "has not the form of what a program keeps"),
    "a part that is missing": (removed(NORM), {}, f"incomplete: {NORM} is neither in it nor absent with a reason$"),
    "two parts that are missing": (removed(NORM, PRODUCT), {}, f"incomplete: {NORM} .*, nor 1 more$"),
    "absent without a reason": (removed(NORM), {"absent": {NORM: " "}}, f"incomplete: {NORM} "),
    "a list of what is absent that is none": (removed(NORM), {"absent": [NORM]}, f"incomplete: {NORM} "),
    "no sheet, whatever the reason": (
        removed("hardware/sheet"),
        {"absent": {"hardware/sheet": "no time"}},
        "incomplete: hardware/sheet ",
    ),
}


@pytest.mark.parametrize("change, said, message", FAULTS.values(), ids=FAULTS)
def test_an_archive_is_refused_for(tmp_path, good, change, said, message):
    found = copy.deepcopy(good)
    change(found)
    sent = send(tmp_path, found, **said)
    for judge in (lambda: archive.check(sent), lambda: archive.unpack(sent, tmp_path / "baked")):
        with pytest.raises(RecordError, match=message) as caught:
            judge()
        assert str(caught.value).startswith(f"{sent}: ") and "\n" not in str(caught.value)
    assert not (tmp_path / "baked").exists()


def test_a_card_of_the_same_name_with_another_memory_is_refused(tmp_path, good):
    """The records of the two would mix in one folder. A little less is what error correction takes."""
    baked, sent = tmp_path / "baked", copy.deepcopy(good)
    archive.unpack(send(tmp_path, good), baked)
    set_in("hardware/sheet", "figures", "memory_bytes", value=131 * 2**30)(sent)
    assert archive.check(send(tmp_path, sent), baked)
    set_in("hardware/sheet", "figures", "memory_bytes", value=100 * 2**30)(sent)
    for judge in (archive.check, archive.unpack):
        with pytest.raises(RecordError, match=r"sheet: its card has 100\.0 GiB, and one of the same name .* has 139\.8 GiB$"):
            judge(send(tmp_path, sent), baked)


def test_a_part_that_is_absent_with_a_reason_may_be(tmp_path, good):
    found = copy.deepcopy(good)
    removed(NORM)(found)
    assert archive.check(send(tmp_path, found, absent={NORM: "needs: luck"}))[-1] == f"absent: {NORM}: needs: luck"


def test_a_few_records_that_a_maintainer_carries_need_not_be_the_set(tmp_path, good):
    some = {place: record for place, record in good.items() if record["name"] == NORM}
    assert len(archive.unpack(send(tmp_path, some, set=None), tmp_path / "baked")) == 1
    with pytest.raises(RecordError, match=f"incomplete: hardware/sheet .*, nor {len(PARTS) - 2} more"):
        archive.check(send(tmp_path, some, set=None))


def test_an_operation_whose_law_is_not_written_yet_is_no_fault_of_an_archive(good):
    record = copy.deepcopy(next(record for record in good.values() if record["name"] == NORM))
    record["measurements"][0] |= {"op": "new", "shape": "8 requests"}
    assert list(plausible.faults({"it": record})) == []


@pytest.mark.parametrize("machine, is_right", [("-x2", True), ("-triton-3.9.0", True), ("-nvl", False)])
def test_a_folder_may_add_how_many_cards_or_which_triton(good, machine, is_right):
    record = copy.deepcopy(next(record for record in good.values() if record["name"] == NORM))
    record["environment"]["machine"] += machine
    assert (list(plausible.faults({"it": record})) == []) == is_right


def test_without_a_sheet_a_rate_is_held_against_its_own_run(tmp_path, good):
    some = {place: copy.deepcopy(record) for place, record in good.items() if record["name"] == PRODUCT}
    faster(1.9, PRODUCT, op="attention", shape="1x8x16384x256", implementation="blockwise")(some)
    with pytest.raises(RecordError, match=r"by blockwise does \S+ TFLOP/s, over the card's"):
        archive.unpack(send(tmp_path, some, set=None), tmp_path / "baked")
