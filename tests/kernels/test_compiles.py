"""Every kernel compiles for GPUs that need not be here, within bounds on what it takes."""

import fcntl
import json
import os
from itertools import product

import pytest
import triton

from kernels.add import add_kernel
from kernels.softmax.softmax import softmax_backward, softmax_forward
from scripts import compile as compiler
from scripts.launches import SPECIMENS, jitted_functions
from scripts.provenance import records, sources
from scripts.provenance.follow import Code

BY_NAME = {specimen.name: specimen for specimen in SPECIMENS}
CASES = [(name, target) for name in BY_NAME for target in compiler.TARGETS]


def recorded() -> list[dict]:
    """What the records say of kernels whose code, launches and compiler are still the record's: compiling says no more.

    In a copy of the checkout without records, as for the kernels' mutants, that is nothing.
    """
    found: list[dict] = []
    code = Code()
    for kernel in dict.fromkeys(specimen.function for specimen in SPECIMENS):
        if sources.is_kept("cpu", "compiled", kernel, code):
            record = records.read(records.record_path("cpu", "compiled", kernel))
            found += record["specimens"] if record["environment"]["triton"] == triton.__version__ else []
    return [entry for entry in found if entry["specimen"] in BY_NAME and entry["launch"] == BY_NAME[entry["specimen"]].launch]


@pytest.fixture(scope="session")
def figures(request, tmp_path_factory) -> dict[tuple[str, str], dict]:
    """What every specimen takes on every target: from its record, or compiled once, also where several processes ask.

    Where only tests of some specimens were asked for, the others are left out.
    """
    asking = [item for item in request.session.items if "figures" in item.fixturenames]
    named = {item.callspec.params.get("name") if hasattr(item, "callspec") else None for item in asking}
    wanted = set(BY_NAME) if None in named else named
    found = {(entry["specimen"], entry["target"]): entry for entry in recorded() if entry["specimen"] in wanted}
    due = sorted({name for name in wanted for target in compiler.TARGETS if (name, target) not in found})
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    kept = folder / "compiled.json"
    with open(folder / "compiled.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_text(json.dumps(compiler.compile_all(list(compiler.TARGETS), due)))
        compiled = json.loads(kept.read_text())
    return found | {(entry["specimen"], entry["target"]): entry for entry in compiled}


def test_records_say_what_the_compiler_says():
    """One specimen of each kernel whose record is used above, on one target after another."""
    found = {(entry["specimen"], entry["target"]): entry for entry in recorded()}
    first = {specimen.function: specimen.name for specimen in reversed(SPECIMENS)}
    names = sorted(name for name in first.values() if (name, compiler.TARGETS[0]) in found)
    for start, target in enumerate(compiler.TARGETS):
        for entry in compiler.compile_all([target], names[start :: len(compiler.TARGETS)]):
            assert entry == found[entry["specimen"], target]


@pytest.mark.parametrize(("name", "target"), CASES)
def test_compiles_within_its_bounds(name, target, figures):
    specimen, entry = BY_NAME[name], figures[name, target]
    assert "error" not in entry, entry["error"]
    assert entry["registers"] <= specimen.registers
    assert entry["spill_bytes"] <= specimen.spills
    assert entry["shared_bytes"] <= specimen.shared
    assert entry["registers"] * 32 * entry["configuration"]["num_warps"] <= 65536, "a launch would be refused"


def test_every_jitted_function_has_a_specimen():
    assert sorted({specimen.kernel for specimen in SPECIMENS}) == sorted(jitted_functions())


def test_names_are_unique():
    assert len(BY_NAME) == len(SPECIMENS)
    files: dict[str, set[str]] = {}
    for specimen in SPECIMENS:
        files.setdefault(specimen.function, set()).add(specimen.path)
    assert {name: sorted(paths) for name, paths in files.items() if len(paths) > 1} == {}, "rename one: records bear these names"


@pytest.mark.parametrize("name", [name for name, specimen in BY_NAME.items() if specimen.path.startswith("kernels/")])
def test_the_library_computes_addresses_in_64_bits(name, figures):
    """A program id times a block or a stride passes 2^31 in a large tensor, which no test on a CPU can afford to show."""
    assert all(figures[name, target]["wide_addresses"] for target in compiler.TARGETS)


# Of these, a launch leaves or takes up a few numbers for each row, beside the row itself.
PARTIAL = {"softmax_parts_kernel", "softmax_split_kernel", "softmax_parts_backward_kernel", "softmax_split_backward_kernel"}


def test_aligned_rows_are_loaded_sixteen_bytes_at_a_time(figures):
    for (name, target), entry in figures.items():
        if BY_NAME[name].path == "kernels/norm/group_rows.py":  # whose last dimension is the places of a channel
            continue
        if BY_NAME[name].function in PARTIAL or BY_NAME[name].path.startswith("kernels/norm/"):
            # Beside the row they load or store the numbers that it has one of. A row too short to give every lane of a
            # warp 16 bytes is loaded in smaller pieces.
            length = BY_NAME[name].shape[-1] if BY_NAME[name].shape else 4096
            short = length * (4 if BY_NAME[name].dtype == "fp32" else 2) < 32 * 16
            assert length % 16 or short or "128" in entry["loads"], (name, target)
        elif BY_NAME[name].launcher and BY_NAME[name].shape[-1] % 16 == 0:
            assert set(entry["loads"]) == set(entry["stores"]) == {"128"}, (name, target)


def launches(launcher, shape: tuple[int, ...], dtype: str) -> set[tuple]:
    """The kernel, constants and warps that `launcher` chooses; the 16-bit dtypes count as one."""
    found = compiler.record_launches(launcher, type(add_kernel), shape, dtype)
    size = "16 bit" if dtype in ("fp16", "bf16") else dtype
    choices = []
    for function, arguments, options in found:
        constants = {name: value for name, value in arguments.items() if name.isupper()}
        choices.append((function.__name__, size, *sorted((constants | options).items())))
    return set(choices)


def test_whatever_softmax_launches_has_a_specimen():
    covered: set[tuple] = set()
    for specimen in SPECIMENS:
        if specimen.launcher:
            module = compiler.load(specimen.path)
            covered |= launches(getattr(module, specimen.launcher), specimen.shape, specimen.dtype)
    lengths = sorted({2**k + d for k in range(18) for d in (0, 1)} | {500, 100_000, 262_144})
    for dtype in ("fp32", "fp16", "bf16"):
        for rows, length in product((7, 1001), lengths):
            forward = launches(lambda x: softmax_forward(x, 1), (rows, length), dtype)
            backward = launches(lambda y, dy: softmax_backward(y, dy, 1), (rows, length), dtype)
            missing = (forward | backward) - covered
            assert not missing, f"no specimen in scripts/launches/ for {rows} rows of {length} in {dtype}: {missing}"


def constants_of(function, arguments: dict, options: dict) -> tuple:
    return function.__name__, {name: value for name, value in arguments.items() if name.isupper()} | options


def launch_of_cross_entropy(given: dict):
    import torch

    from kernels.cross_entropy.launch import cross_entropy_launch

    def launch(logits):
        target = torch.empty(7, dtype=torch.int64, device="meta")
        dlogits, dloss = (logits.new_empty(logits.shape) if given.get(name) else None for name in ("dlogits_ptr", "dloss_ptr"))
        loss = None if given["loss_ptr"] is None else logits.new_empty(())
        cross_entropy_launch(logits, target, (-100, "mean"), None, loss, dlogits, dloss, given.get("READY", False))

    return launch, (7, given["n_columns"]), given["logits_ptr"][1:]


def launch_of_rope(given: dict):
    from kernels.rotary_embedding.rotate_pairs import rotary_embedding_launch

    def launch(q):
        table = q.new_empty(1, 4096, q.shape[3] if given["WIDE"] else q.shape[3] // 2)
        k = q[:, : given["n_k_heads"]]
        rotary_embedding_launch(q, k, table, table, q, k, given["INVERSE"])

    return launch, (2, given["n_q_heads"], 4096, 2 * given["HALF"]), given["q_ptr"][1:]


def test_the_specimens_of_cross_entropy_and_rope_are_what_is_launched():
    """Their entries repeat what the launchers choose, which must not fall behind."""
    seen = 0
    for specimen in SPECIMENS:
        given = specimen.arguments
        launchers = ("kernels/cross_entropy/", "kernels/rotary_embedding/")
        if not specimen.path.startswith(launchers) or not given.keys() & {"logits_ptr", "q_ptr"}:
            continue
        launch, shape, dtype = launch_of_rope(given) if "q_ptr" in given else launch_of_cross_entropy(given)
        (launched,) = compiler.record_launches(launch, type(add_kernel), shape, dtype)
        function = getattr(compiler.load(specimen.path), specimen.function)
        assert constants_of(*launched) == constants_of(function, given, specimen.options), specimen.name
        seen += 1
    assert seen > 20


BY_DESCRIPTORS = ("matmul_hopper", "matmul_narrow")


@pytest.mark.parametrize("kernel", ["cross_entropy_long_kernel", "cross_entropy_gradient_kernel"])
def test_rows_of_any_length_are_loaded_sixteen_bytes_at_a_time(kernel, figures):
    """Also those whose length no power of two divides; the edges alone are loaded one by one, in two instructions."""
    found = [(name, entry) for (name, _), entry in figures.items() if BY_NAME[name].function == kernel]
    assert found
    for name, entry in found:
        size = 32 if name.endswith("fp32") else 16
        assert entry["loads"]["128"] >= 2, name
        assert size == 32 or entry["loads"].get("16", 0) <= 3, name


def test_heads_of_no_power_of_two_are_loaded_as_wide_as_they_divide(figures):
    """Half a head of 40 or 48 numbers is loaded 16 bytes at a time, and one of 36, whose heads begin anywhere, 8."""
    found = {(name, target): entry for (name, target), entry in figures.items() if name.startswith("rotary_embedding_kernel/")}
    for width, bits in (("72", "64"), ("80", "128"), ("96", "128")):
        of_width = [entry for (name, _), entry in found.items() if name.split("/")[1].split("-")[0] == width]
        assert of_width
        assert all(set(entry["loads"]) == set(entry["stores"]) == {bits} for entry in of_width), width


def test_products_by_descriptors_spill_nothing_where_they_run(figures):
    """On Hopper. What other GPUs, which no plan gives these kernels, make of descriptors is another matter."""
    found = {
        name: entry
        for (name, target), entry in figures.items()
        if target == "sm_90" and name.split("_kernel/")[0] in BY_DESCRIPTORS
    }
    assert len(found) >= 10
    for name, entry in found.items():
        # A few registers of the one that keeps what the activation was given do not fit on Triton 3.9.
        assert entry["spill_bytes"] <= (64 if "kept" in name else 0) and entry["shared_bytes"] <= 232_448, name
