"""The CUDA C++ that the configuration picker shows multiplies right: its text runs on the CPU, instruction by instruction.

A C++ compiler builds the very text; only the instructions of the GPU are replaced, by what the PTX ISA says that they do.
"""

import ctypes
import re
import shutil
import subprocess
import sys

import numpy
import pytest

from snippets.landscape.cuda_source import CONFIGURATIONS, cuda_source
from tests.docs.pages import ROOT

FLAGS = ["-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-include"]
FLAGS += [str(ROOT / "tests" / "snippets" / "cuda_emulator.h")]
ASM = re.compile(r"asm(?: volatile)?\((\"[^\"]*\".*?)\);", re.DOTALL)
OPERAND = re.compile(r'"[=+]?[rlf]"\(((?:[^()]|\([^()]*\))*)\)')
RING = "{%0, %1, %2, %3}"
TAIL = """
extern "C" int emulated(const void* a, const void* b, void* c, int64_t M, int64_t N, int64_t K, long* found) {
  auto add = [](const void* p, int64_t n) { readable.push_back({(const char*)p, (const char*)p + 2 * n}); };
  readable.clear();
  add(a, M * K), add(b, K * N);
  const int status = launch((const bf16*)a, (const bf16*)b, (bf16*)c, M, N, K, nullptr);
  *found = conflicts;
  return status;
}
"""


def replaced(statement: re.Match) -> str:
    """An instruction as a call of the emulator. Its operands must stand in the order of the instruction's text."""
    text = re.match(r'"([^"]*)"', statement[1])[1]
    given = OPERAND.findall(statement[1])
    if text == "cp.async.cg.shared.global [%0], [%1], 16, %2;":
        return f"cp_async({', '.join(given)});"
    if text == "cp.async.commit_group;":
        return "cp_async_commit_group();"
    if found := re.fullmatch(r"cp\.async\.wait_group (\d+);", text):
        return f"cp_async_wait_group({found[1]});"
    if found := re.fullmatch(rf"ldmatrix\.sync\.aligned\.m8n8\.x4(\.trans)?\.shared\.b16 {RING}, \[%4\];", text):
        assert given[:4] == [f"to[{i}]" for i in range(4)] and len(given) == 5
        return f"ldmatrix(to, {given[4]}, {'true' if found[1] else 'false'});"
    instruction = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
    assert text == f"{instruction} {RING}, {{%4, %5, %6, %7}}, {{%8, %9}}, {RING};", text
    assert given[:8] == [f"{name}[{i}]" for name in "ca" for i in range(4)] and len(given) == 10
    return f"mma(c, a, {given[8]}, {given[9]});"


def built(source: str, folder) -> ctypes.CDLL:
    compiler = shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    assert compiler, "this test runs the CUDA C++ on the CPU, and needs a C++ compiler such as g++"
    text, instructions = ASM.subn(replaced, source.replace("#include <cuda_bf16.h>\n", ""))
    text, launches = re.subn(r"matmul<<<(.*), stream>>>\((.*)\);", r"emulated_launch(\1, [=] { matmul(\2); });", text)
    assert instructions == 6 and launches == 1
    (folder / "product.cpp").write_text(text + TAIL, encoding="utf-8")
    made = [compiler, *FLAGS, str(folder / "product.cpp"), "-o", str(folder / "product.so")]
    done = subprocess.run(made, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "product.so"))


def bf16(x: numpy.ndarray) -> numpy.ndarray:
    """Rounded to bf16, as its bits."""
    words = x.astype(numpy.float32).view(numpy.uint32)
    return ((words + 0x7FFF + ((words >> 16) & 1)) >> 16).astype(numpy.uint16)


def as_float(bits: numpy.ndarray) -> numpy.ndarray:
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


def aligned(shape: tuple[int, int]) -> numpy.ndarray:
    """Room for a matrix that starts at a multiple of 16 bytes, filled with NaN, far from every other matrix."""
    far, size = 2**16, shape[0] * shape[1]
    room = numpy.full(size + 2 * far, 0x7FFF, dtype=numpy.uint16)
    first = far - room[far:].ctypes.data % 16 // 2
    return room[first : first + size].reshape(shape)


def product(library: ctypes.CDLL, m: int, n: int, k: int) -> tuple[int, float, int]:
    """The status of a launch, its largest error in units of a rounding, and its bank conflicts."""
    random = numpy.random.default_rng(m * n + k)
    a, b, c = aligned((m, k)), aligned((k, n)), aligned((m, n))
    a[:], b[:] = bf16(random.standard_normal((m, k))), bf16(random.standard_normal((k, n)))
    sizes = [ctypes.c_int64(size) for size in (m, n, k)]
    conflicts = ctypes.c_long()
    status = library.emulated(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)), *sizes, ctypes.byref(conflicts))
    expected = as_float(a).astype(numpy.float64) @ as_float(b).astype(numpy.float64)
    error = numpy.abs(as_float(c) - expected) / (numpy.abs(expected) * 2**-8 + 1e-5 * k)
    return status, float(error.max()), conflicts.value


def label(configuration: tuple[int, ...]) -> str:
    return "x".join(str(number) for number in configuration)


def shared_bytes(source: str) -> int:
    return int(re.search(r"SHARED_BYTES = (\d+);", source)[1])


FITTING = [configuration for configuration in CONFIGURATIONS if shared_bytes(cuda_source(*configuration)) <= 232448]


@pytest.mark.parametrize("configuration", FITTING, ids=label)
def test_every_configuration_multiplies_right_without_bank_conflicts(configuration, tmp_path):
    m, n, k, _, stages = configuration
    library = built(cuda_source(*configuration), tmp_path)
    # Ragged in both directions, two tiles of rows, more steps than stages; then fewer steps than stages.
    for shape in ((m + 24, n + 8, (stages + 2) * k), (m - 15, 8, k)):
        status, error, conflicts = product(library, *shape)
        assert status == 0
        assert error <= 1.0, "a wrong product"
        assert conflicts == 0


def test_more_tiles_than_one_group_of_rows_are_all_computed(tmp_path):
    library = built(cuda_source(64, 64, 32, 4, 3), tmp_path)
    assert product(library, 64 * 9 + 1, 64 * 2 + 8, 32)[:2] == (0, pytest.approx(0.5, abs=0.5))


def test_sizes_that_it_cannot_do_are_refused(tmp_path):
    library = built(cuda_source(64, 64, 32, 4, 3), tmp_path)
    assert [product(library, *shape)[0] for shape in ((64, 64, 48), (64, 60, 32))] == [1, 1]


def test_too_much_shared_memory_is_refused_by_the_driver_and_not_by_the_kernel(tmp_path):
    too_large = next(configuration for configuration in CONFIGURATIONS if configuration not in FITTING)
    assert product(built(cuda_source(*too_large), tmp_path), 256, 128, 128)[0] == 1


@pytest.mark.parametrize("sizes", [(64, 64, 32, 4, 1), (64, 64, 24, 4, 3), (16, 64, 32, 16, 3), (64, 96, 32, 4, 3)], ids=label)
def test_configurations_that_cannot_be_shared_out_are_refused(sizes):
    with pytest.raises(ValueError, match="by"):
        cuda_source(*sizes)


FAULTS = {
    "a slice read before it has arrived": ("cp.async.wait_group 1;", "cp.async.wait_group 2;"),
    "no barrier": ("__syncthreads();", ""),
    "a slice overwritten while it is read": ("int reading = 0, writing = 2", "int reading = 0, writing = 0"),
    "rows of b not transposed": ("x4.trans.shared", "x4.shared"),
    "columns of a piece exchanged": ("pieces_b[n][0], pieces_b[n][1]", "pieces_b[n][0], pieces_b[n][2]"),
    "rows beyond the matrix": ("row + row_a + i * 32 < M", "true"),
    "a sum at its neighbor's place": ("+ lane % 4 * 2;", "+ lane % 4;"),
}


@pytest.mark.parametrize("right, wrong", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_seen(right, wrong, tmp_path):
    source = cuda_source(64, 64, 32, 4, 3)
    assert right in source
    built(source.replace(right, wrong), tmp_path)
    # In a process of its own, because the emulator ends it where an address is bad.
    code = "import ctypes, sys; from tests.snippets.test_landscape import product\n"
    code += f"status, error, _ = product(ctypes.CDLL({str(tmp_path / 'product.so')!r}), 88, 72, 160)\n"
    code += "sys.exit(0 if status == 0 and error <= 1 else 1)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "Error" not in done.stderr


def test_rows_without_padding_would_collide(tmp_path):
    source = cuda_source(64, 64, 64, 4, 3)
    library = built(source.replace("ROW_A = 72, ROW_B = 72", "ROW_A = 64, ROW_B = 64"), tmp_path)
    status, error, conflicts = product(library, 64, 64, 64)
    assert status == 0 and error <= 1 and conflicts > 0
