"""Every kernel compiles for GPUs that need not be here, within bounds on what it takes."""

import fcntl
import json
import os

import pytest

from kernels.add import add_kernel
from kernels.softmax import softmax_backward, softmax_forward
from scripts import compile as compiler
from scripts.specimens import SPECIMENS, jitted_functions

BY_NAME = {specimen.name: specimen for specimen in SPECIMENS}
CASES = [(name, target) for name in BY_NAME for target in compiler.TARGETS]


@pytest.fixture(scope="session")
def figures(tmp_path_factory) -> dict[tuple[str, str], dict]:
    """What every specimen takes on every target; compiled once, also where several processes share the tests."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    kept = folder / "compiled.json"
    with open(folder / "compiled.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_text(json.dumps(compiler.compile_all(list(compiler.TARGETS))))
        found = json.loads(kept.read_text())
    return {(entry["specimen"], entry["target"]): entry for entry in found}


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
    assert len({specimen.function for specimen in SPECIMENS}) == len({specimen.kernel for specimen in SPECIMENS})


@pytest.mark.parametrize("name", [name for name, specimen in BY_NAME.items() if specimen.path.startswith("kernels/")])
def test_the_library_computes_addresses_in_64_bits(name, figures):
    """A program id times a block or a stride passes 2^31 in a large tensor, which no test on a CPU can afford to show."""
    assert all(figures[name, target]["wide_addresses"] for target in compiler.TARGETS)


def test_aligned_rows_are_loaded_sixteen_bytes_at_a_time(figures):
    for (name, target), entry in figures.items():
        if BY_NAME[name].launcher and BY_NAME[name].shape[-1] % 16 == 0:
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
        for length in lengths:
            forward = launches(lambda x: softmax_forward(x, 1), (7, length), dtype)
            backward = launches(lambda y, dy: softmax_backward(y, dy, 1), (7, length), dtype)
            missing = (forward | backward) - covered
            assert not missing, f"no specimen in scripts/specimens/ for rows of {length} in {dtype}: {missing}"
