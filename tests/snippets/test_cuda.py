"""The CUDA C++ that stands beside Triton computes right: its text runs on the CPU, thread by thread, against float64."""

import ast
import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

from snippets.tools.norm_source import NORM_CUDA
from tests.docs.pages import ROOT
from tests.snippets.test_landscape import ASM, as_float, bf16, replaced

FLAGS = ["-std=c++17", "-O1", "-shared", "-fPIC", "-fno-strict-aliasing", "-w", "-include"]
FLAGS += [str(ROOT / "tests" / "snippets" / "cuda_threads.h")]
LAUNCH = re.compile(r"(\w+(?:<\d+>)?)<<<(.*), stream>>>\((.*)\);")
GUARD = 4096


def program(name: str) -> ast.Module:
    return ast.parse((ROOT / "snippets" / f"{name}.py").read_text(encoding="utf-8"))


def cuda_of(name: str) -> str:
    """The CUDA C++ of a program, without running the program."""
    for node in program(name).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CUDA":
            return ast.literal_eval(node.value)
    raise LookupError(f"{name} has no CUDA")


def linear_source() -> str:
    """The product with GELU, as its program writes it."""
    kept = [
        node for node in program("tools/epilogue").body if "CHANGES" in ast.unparse(node) and "torch" not in ast.unparse(node)
    ]
    names: dict = {}
    exec("from snippets.landscape.cuda_source import cuda_source\n" + "\n".join(map(ast.unparse, kept)), names)
    return names["cuda_linear_source"]()


@functools.cache
def built(text: str) -> ctypes.CDLL:
    """A program's launching functions, for the CPU; each text is compiled once."""
    compiler = shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    assert compiler, "this test runs CUDA C++ on the CPU, and needs a C++ compiler such as g++"
    text = re.sub(r"#include <cuda_\w+\.h>\n", "", ASM.sub(replaced, text))
    text, launches = LAUNCH.subn(r"threads_launch(\2, [=] { \1(\3); });", text)
    assert launches
    if "extern __shared__" in text:  # the picker's: one array, which the emulator has already
        text = text.replace("extern __shared__ __align__(16) bf16 slices[];", "")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "program.cpp"), Path(folder, "program.so")
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([compiler, *FLAGS, str(source), "-o", str(library)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(library))


class Guarded:
    """An array that starts at a multiple of 16 bytes: NaN on both sides of what is read, large numbers beside what is written."""

    def __init__(self, values: numpy.ndarray):
        self.guard = (
            0x7F if (values.view(numpy.uint8) == unset(*values.shape, dtype=values.dtype).view(numpy.uint8)).all() else 0xFF
        )
        room = numpy.full(values.nbytes + 2 * GUARD + 16, self.guard, dtype=numpy.uint8)
        self.first = GUARD + -(room.ctypes.data + GUARD) % 16
        self.room, self.bytes = room, values.nbytes
        self.values = room[self.first : self.first + values.nbytes].view(values.dtype).reshape(values.shape)
        self.values[...] = values

    def is_whole(self) -> bool:
        beside = numpy.concatenate([self.room[: self.first], self.room[self.first + self.bytes :]])
        return bool((beside == self.guard).all())


def run(function: Callable, *given: numpy.ndarray | int) -> tuple[int, list[numpy.ndarray]]:
    """Call a launching function; its status, and the arrays as they are afterwards. No other memory may have changed."""
    arrays = [Guarded(value) if isinstance(value, numpy.ndarray) else value for value in given]
    passed = [
        ctypes.c_void_p(value.values.ctypes.data) if isinstance(value, Guarded) else ctypes.c_int64(value) for value in arrays
    ]
    status = function(*passed, ctypes.c_void_p(None))
    found = [value for value in arrays if isinstance(value, Guarded)]
    assert all(value.is_whole() for value in found), "memory beside an array was written"
    return status, [value.values for value in found]


def random(*shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(sum(shape)).standard_normal(shape).astype(numpy.float32)


def unset(*shape: int, dtype=numpy.float32) -> numpy.ndarray:
    """NaN, as float32 or as the bits of bf16; zeros of any other type."""
    fill = {numpy.dtype(numpy.uint16): 0x7FFF, numpy.dtype(numpy.float32): numpy.nan}.get(numpy.dtype(dtype), 0)
    return numpy.full(shape, fill, dtype=dtype)


@pytest.mark.parametrize("n", [1, 3, 4, 1023, 1024, 5000])
def test_add(n):
    x, y = random(n), random(n) + 1
    status, found = run(built(cuda_of("cuda/add")).launch, x, y, unset(n), n)
    assert status == 0 and numpy.array_equal(found[2], x + y)


@pytest.mark.parametrize("rows, columns", [(3, 4), (2, 1000), (5, 4096)])
def test_row_sum(rows, columns):
    x = random(rows, columns)
    status, found = run(built(cuda_of("cuda/row_sum")).launch, x, unset(rows), rows, columns)
    assert status == 0
    numpy.testing.assert_allclose(found[1], x.astype(numpy.float64).sum(1), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("rows, columns", [(3, 4), (2, 1000)])
def test_row_max(rows, columns):
    x = random(rows, columns) - 9
    status, found = run(built(cuda_of("cuda/row_max")).launch, x, unset(rows), rows, columns)
    assert status == 0 and numpy.array_equal(found[1], x.max(1))


def test_lengths_that_the_row_sum_cannot_do_are_refused():
    status, found = run(built(cuda_of("cuda/row_sum")).launch, random(2, 6), unset(2), 2, 6)
    assert status == 1 and numpy.isnan(found[1]).all()


@pytest.mark.parametrize("rows, columns", [(3, 8), (2, 1000), (2, 4096)])
def test_softmax(rows, columns):
    x = bf16(10 * random(rows, columns))
    out = unset(rows, columns, dtype=numpy.uint16)
    status, found = run(built(cuda_of("cuda/softmax")).launch, x, out, rows, columns)
    e = numpy.exp(as_float(x).astype(numpy.float64) - as_float(x).max(1, keepdims=True))
    assert status == 0
    numpy.testing.assert_allclose(as_float(found[1]), e / e.sum(1, keepdims=True), rtol=2**-8, atol=1e-9)


def test_rows_that_the_softmax_cannot_do_are_refused():
    launch = built(cuda_of("cuda/softmax")).launch
    for columns in (12, 4104):
        x = bf16(random(1, columns))
        assert run(launch, x, x.copy(), 1, columns)[0] == 1


@pytest.mark.parametrize("name, shapes", [("naive", [(5, 7, 9), (40, 300, 33)]), ("tiled", [(128, 128, 16), (256, 384, 48)])])
def test_float32_products(name, shapes):
    launch = built(cuda_of(f"cuda/{name}")).launch
    for m, n, k in shapes:
        a, b = random(m, k), random(k, n)
        status, found = run(launch, a, b, unset(m, n), m, n, k)
        assert status == 0
        numpy.testing.assert_allclose(found[2], a.astype(numpy.float64) @ b.astype(numpy.float64), rtol=1e-4, atol=1e-4)


def test_sizes_that_the_tiled_product_cannot_do_are_refused():
    launch = built(cuda_of("cuda/tiled")).launch
    for m, n, k in ((100, 128, 16), (128, 100, 16), (128, 128, 24), (128, 128, 0)):
        assert run(launch, random(m, max(k, 1)), random(max(k, 1), n), unset(m, n), m, n, k)[0] == 1


@pytest.mark.parametrize("way", [1, 8, 4, 2])
@pytest.mark.parametrize("columns", [1024, 2048, 12 * 1024])
def test_streamed_sums(way, columns):
    x = random(3, columns)
    status, found = run(built(cuda_of("hard/buffers")).launch, x, unset(3), 3, columns, way)
    assert status == 0
    numpy.testing.assert_allclose(found[1], x.astype(numpy.float64).sum(1), rtol=1e-5, atol=1e-4)


def test_chain():
    x, gate, residual = (bf16(random(5, 48) + shift) for shift in range(3))
    scale, bias = bf16(random(48)), bf16(random(48) - 1)
    out = unset(5, 48, dtype=numpy.uint16)
    status, found = run(built(cuda_of("tools/chain")).launch, x, gate, residual, scale, bias, out, 5, 48)
    x, gate, residual, scale, bias = (as_float(value).astype(numpy.float64) for value in (x, gate, residual, scale, bias))
    z = x * scale + bias
    assert status == 0
    numpy.testing.assert_allclose(as_float(found[5]), residual + gate * z / (1 + numpy.exp(-z)), rtol=2**-8, atol=1e-5)


def test_bags():
    table, lengths = random(50, 256), numpy.array([3, 0, 7, 1, 12])
    starts = numpy.concatenate([[0], lengths.cumsum()]).astype(numpy.int64)
    indices = numpy.random.default_rng(0).integers(0, 50, starts[-1])
    given = table, indices, starts, unset(5, 256), 5, 256
    status, found = run(built(cuda_of("tools/bags")).launch, *given)
    expected = [table[indices[first:last]].sum(0) for first, last in zip(starts, starts[1:], strict=False)]
    assert status == 0
    numpy.testing.assert_allclose(found[3], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rows, columns", [(7, 8), (7, 1000), (3, 4096)])
def test_norm_and_its_gradients(rows, columns):
    library = built(NORM_CUDA)
    x, weight, dy = bf16(random(rows, columns)), bf16(random(columns)), bf16(random(rows, columns) + 0.5)
    y = unset(rows, columns, dtype=numpy.uint16)
    status, (_, _, y, rstd) = run(library.launch, x, weight, y, unset(rows), rows, columns)
    wide_x, wide_weight, wide_dy = (as_float(value).astype(numpy.float64) for value in (x, weight, dy))
    scale = 1 / numpy.sqrt((wide_x**2).mean(1, keepdims=True) + 1e-6)
    assert status == 0
    numpy.testing.assert_allclose(as_float(y), wide_x * scale * wide_weight, rtol=2**-8, atol=1e-5)
    parts = unset(4, columns)
    given = x, weight, dy, rstd.copy(), unset(rows, columns, dtype=numpy.uint16), parts, 4, rows, columns
    status, found = run(library.launch_backward, *given)
    normal, g = wide_x * scale, wide_dy * wide_weight
    assert status == 0
    expected = (g - normal * (g * normal).mean(1, keepdims=True)) * scale
    numpy.testing.assert_allclose(as_float(found[4]), expected, rtol=2**-8, atol=2e-5)
    numpy.testing.assert_allclose(found[5].sum(0), (wide_dy * normal).sum(0), rtol=1e-4, atol=1e-4)


def test_a_product_with_gelu():
    m, n, k = 136, 264, 128
    a, b, bias = bf16(random(m, k)), bf16(random(k, n) / k**0.5), bf16(random(n))
    text = linear_source() + (
        'extern "C" int guarded(const void* a, const void* b, const void* bias, void* c,'
        " int64_t M, int64_t N, int64_t K, void* s) {"
        " readable.clear(); readable.push_back({(const char*)a, (const char*)a + 2 * M * K});"
        " readable.push_back({(const char*)b, (const char*)b + 2 * K * N});"
        " return launch((const bf16*)a, (const bf16*)b, (const bf16*)bias, (bf16*)c, M, N, K, s); }"
    )
    status, found = run(built(text).guarded, a, b, bias, unset(m, n, dtype=numpy.uint16), m, n, k)
    x = as_float(a).astype(numpy.float64) @ as_float(b) + as_float(bias)
    expected = 0.5 * x * (1 + numpy.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))
    assert status == 0
    numpy.testing.assert_allclose(as_float(found[3]), expected, rtol=2**-8, atol=1e-4)


FAULTS = {
    "a piece beyond the end": ("cuda/add", "if (i + 4 <= n)", "if (i <= n)"),
    "a warp left out of the sum": ("cuda/row_sum", "int step = WARPS / 2; step", "int step = WARPS / 4; step"),
    "a filler that wins": ("cuda/row_max", "most = -INFINITY", "most = 0"),
    "no maximum": ("cuda/softmax", "peak = over_block(peak,", "over_block(peak,"),
    "no barrier": ("cuda/tiled", "    __syncthreads();\n  }", "  }"),
    "the wrong half": ("cuda/tiled", "y + i / 4 * 64", "y + i / 4 * 32"),
    "a piece read too early": ("hard/buffers", "__pipeline_wait_prior(STAGES - 1)", "__pipeline_wait_prior(STAGES)"),
    "a bag's last row": ("tools/bags", "i < last", "i + 1 < last"),
}
CHECKS = {
    "cuda/add": lambda: test_add(1023),
    "cuda/row_sum": lambda: test_row_sum(2, 1000),
    "cuda/row_max": lambda: test_row_max(2, 1000),
    "cuda/softmax": lambda: test_softmax(2, 4096),
    "cuda/tiled": lambda: test_float32_products("tiled", [(256, 384, 48)]),
    "hard/buffers": lambda: test_streamed_sums(4, 12 * 1024),
    "tools/bags": test_bags,
}


@pytest.mark.parametrize("name, right, wrong", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_seen(name, right, wrong, monkeypatch):
    text = cuda_of(name)
    assert right in text
    monkeypatch.setattr(f"{__name__}.cuda_of", lambda _: text.replace(right, wrong))
    with pytest.raises(AssertionError):
        CHECKS[name]()
