"""kernels.matmul and kernels.scaled_matmul against float64: every kernel, layout, size, activation and gradient."""

import contextlib
import importlib
import weakref
from unittest import mock

import pytest
import torch

from kernels import matmul, scaled_matmul
from kernels.matmul.aligned import aligned_copy
from kernels.matmul.configs import TILES
from kernels.matmul.dispatch import MATMUL_KERNELS, for_both
from kernels.matmul.epilogue import Epilogue, descriptor_factory
from kernels.matmul.hopper import descriptor, matmul_hopper
from kernels.matmul.matmul import ACTIVATIONS, matmul_reference
from kernels.matmul.narrow import matmul_narrow
from kernels.matmul.plan import choose_plan, is_shifted, matmul_layout, matmul_plan
from kernels.matmul.split import matmul_split
from kernels.matmul.tiled import matmul_lines, matmul_tiled
from tests.interpreter import only_touching
from tests.kernels.matmul_numerics import ACTIVATED, TF32_STEP, assert_matmul, slopes_64, sums_64
from tests.kernels.numerics import DTYPES, assert_guard_untouched, assert_within, guarded, poisoned, random
from tests.needs import need_free_memory, needs, needs_type

SMALL = {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 16, "GROUP_M": 2, "num_warps": 4, "num_stages": 2}
# m, n and k around the tiles above and the shipped ones, one, and odd.
SIZES = [(1, 1, 1), (16, 32, 16), (17, 33, 17), (5, 100, 40), (70, 1, 33), (1, 70, 200), (40, 50, 1), (65, 130, 70)]


@pytest.fixture(autouse=True)
def loads_by_keyword(like_a_gpu, monkeypatch, device) -> None:
    """The interpreter's descriptors give named arguments and bare arrays as masks; turn both into what others give."""
    if device == "cpu":
        import triton.language as tl
        from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

        load = InterpreterBuilder.create_masked_load

        def positional(self, pointers, mask, other=None, *cached, **named):
            mask = mask if isinstance(mask, TensorHandle) else TensorHandle(mask, tl.int1)
            return load(self, pointers, mask, other, *cached, *named.values())  # Triton 3.9 has one of these less

        store = InterpreterBuilder.create_masked_store

        def handled(self, pointers, value, mask, *arguments, **options):
            mask = mask if isinstance(mask, TensorHandle) else TensorHandle(mask, tl.int1)
            return store(self, pointers, value, mask, *arguments, **options)

        monkeypatch.setattr(InterpreterBuilder, "create_masked_load", positional)
        monkeypatch.setattr(InterpreterBuilder, "create_masked_store", handled)


def within(reads: list, writes: list):
    return only_touching(reads, writes) if reads[0].device.type == "cpu" else contextlib.nullcontext()


def laid(values: torch.Tensor, layout: str) -> torch.Tensor:
    """The same matrix, its rows (`n`) or its columns (`t`) side by side, or neither (`s`)."""
    if layout == "t":
        return values.t().contiguous().t()
    return torch.stack((values, values), -1)[..., 0] if layout == "s" else values


def given(m: int, n: int, k: int, dtype: torch.dtype, device: str, layout: str = "nn") -> tuple:
    a, b = random(m, k, dtype=dtype, device=device), random(k, n, dtype=dtype, device=device, seed=1)
    return laid(a, layout[0]), laid(b, layout[1]), random(n, dtype=dtype, device=device, seed=2)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_any_size(m, n, k, dtype, device):
    a, b, bias = given(m, n, k, dtype, device)
    kept = a.clone(), b.clone()
    c = matmul(a, b, bias)
    assert (c.shape, c.dtype, c.device) == ((m, n), dtype, a.device) and c.is_contiguous()
    assert_matmul(c, a, b, bias)
    assert_matmul(matmul(a, b), a, b)
    assert torch.equal(a, kept[0]) and torch.equal(b, kept[1])


@pytest.mark.parametrize("layout", [x + y for x in "nts" for y in "nts"])
@pytest.mark.parametrize("k", [24, 35])
def test_any_layout(layout, k, device):
    a, b, bias = given(40, 72, k, torch.float16, device, layout)
    assert_matmul(matmul(a, b, bias), a, b, bias)


def test_views_with_a_stride_of_zero_or_a_negative_bit(device):
    a, b, bias = given(20, 30, 24, torch.float32, device)
    wide, tall = a[:1].expand(20, 24), b[:, :1].expand(24, 30)
    assert_matmul(matmul(wide, b), wide, b)
    assert_matmul(matmul(a, tall), a, tall)
    assert_matmul(matmul(a[:, :1].expand(20, 24), b), a[:, :1].expand(20, 24), b)
    minus = torch._neg_view(a), torch._neg_view(b), torch._neg_view(bias)
    assert_matmul(matmul(*minus), -a, -b, -bias)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("activation", ACTIVATED)
def test_bias_and_activation(activation, dtype, device):
    a, b, bias = given(33, 40, 20, dtype, device)
    assert_matmul(matmul(a, b, bias, activation), a, b, bias, activation)
    assert_matmul(matmul(a, b, activation=activation), a, b, None, activation)
    assert_matmul(matmul(a, b, bias.float(), activation=activation), a, b, bias.float(), activation)


@pytest.mark.parametrize("activation", ACTIVATED)
def test_nothing_to_sum_and_nothing_to_write(activation, device):
    a, b, bias = given(5, 7, 0, torch.float32, device)
    assert_matmul(matmul(a, b, bias, activation), a, b, bias, activation)
    assert matmul(a[:0], b, bias, activation).shape == (0, 7)
    assert matmul(a, b[:, :0], bias[:0], activation).shape == (5, 0)


NOTHING = Epilogue()
# That in Gluon has tests of its own. The last: as narrow, but a second launch adds up.
ROUTES = ["tiled", "split", "hopper", "narrow", "parts"]


def launch(route: str, a, b, c, finish: Epilogue = NOTHING, **other) -> torch.Tensor:
    """Call one kernel with small tiles."""
    if route == "split":
        matmul_split(a, b, c, finish, "ieee", {**SMALL, "parts": 3, **other})(a, b, c, finish)
    elif route == "hopper":
        hopper = {"DESCRIPTOR_STORE": False, "programs": 3}
        blocks = {"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 64} if a.device.type == "cuda" else {}
        matmul_hopper(a, b, c, finish, "ieee", {**SMALL, **hopper, **blocks, **other})(a, b, c, finish)
    elif route in ("narrow", "parts"):
        wide, block_k = (64, 64) if a.device.type == "cuda" else (32, 16)
        sizes = {"WIDE": wide, "NARROW": 16, "BLOCK_K": block_k, "num_warps": 4, "num_stages": 2, "parts": 3}
        with mock.patch("kernels.matmul.narrow.MANY_SUMS", 1 if route == "parts" else 2**15):
            matmul_narrow(a, b, c, finish, "ieee", {**sizes, **other})(a, b, c, finish)
    else:
        matmul_tiled(a, b, c, finish, "ieee", {**SMALL, **other})(a, b, c, finish)
    return c


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("m", "n", "k"), [(1, 8, 8), (16, 32, 16), (33, 40, 40), (40, 7, 72)])
def test_kernel_touches_its_matrices_and_nothing_else(route, dtype, m, n, k, device):
    # Descriptors take rows that begin at multiples of 16 bytes.
    a, b = (poisoned(random(*shape, dtype=dtype, device=device), gap=(-shape[1] % 8) + 8) for shape in ((m, k), (k, n)))
    c, buffer = guarded((m, n), dtype, device)
    bias = poisoned(random(1, n, dtype=dtype, device=device, seed=2))[0]
    with within([a, b, bias], [c]) if route == "tiled" else contextlib.nullcontext():
        launch(route, a, b, c, Epilogue(bias=bias))
    assert_matmul(c, a, b, bias)
    assert_guard_untouched(c, buffer)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("activation", [None, "silu"])
def test_every_kernel_keeps_what_the_activation_was_given(route, activation, device):
    a, b, bias = given(40, 72, 104, torch.float16, device, "nt")
    (c, c_buffer), (z, z_buffer) = (guarded((40, 72), torch.float16, device) for _ in range(2))
    launch(route, a, b, c, Epilogue(z, bias, activation=activation))
    assert_matmul(c, a, b, bias, activation)
    assert_matmul(z, a, b, bias)
    assert_guard_untouched(c, c_buffer)
    assert_guard_untouched(z, z_buffer)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_every_kernel_takes_every_layout(route, layout, device):
    a, b, _ = given(40, 72, 56, torch.float16, device, layout)
    assert_matmul(launch(route, a, b, torch.empty(40, 72, dtype=torch.float16, device=device)), a, b)


@pytest.mark.parametrize("route", ["split", "narrow", "parts"])
def test_splitting_leaves_its_counters_at_zero_and_repeats_its_bits(route, device):
    a, b, _ = given(24, 40, 200, torch.float16, device)
    first, second = (launch(route, a, b, torch.empty(24, 40, dtype=torch.float16, device=device)) for _ in range(2))
    assert torch.equal(first, second)
    assert_matmul(first, a, b)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("programs", [1, 4, 100])
def test_programs_that_persist_store_every_tile(stored, programs, device):
    a, b, bias = given(70, 88, 40, torch.float16, device)
    c = torch.full((70, 88), float("nan"), dtype=torch.float16, device=device)
    launch("hopper", a, b, c, Epilogue(bias=bias), DESCRIPTOR_STORE=stored, programs=programs)
    assert_matmul(c, a, b, bias)


@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize("route", ["narrow", "parts"])
@pytest.mark.parametrize(("m", "n"), [(3, 72), (72, 3), (40, 40)])
def test_the_wide_matrix_gives_the_rows_whichever_it_is(m, n, route, parts, device):
    a, b, bias = given(m, n + -n % 8, 112, torch.float16, device)
    b, bias = b[:, :n], bias[:n]
    (z, z_buffer), (c, c_buffer) = (guarded((m, n), torch.float16, device) for _ in range(2))
    launch(route, a, b, c, Epilogue(z, bias, activation="silu"), parts=parts)
    assert_matmul(c, a, b, bias, "silu")
    assert_matmul(z, a, b, bias)
    assert_guard_untouched(c, c_buffer)
    assert_guard_untouched(z, z_buffer)


def assert_gradients(a, b, bias, dc, activation, create_graph=False) -> None:
    leaves = [t.detach().requires_grad_() for t in (a, b, bias) if t is not None]
    c = matmul(*leaves, activation=activation)
    found = torch.autograd.grad(c, leaves, dc, create_graph=create_graph)
    z, error = sums_64(a, b, bias)
    dz = dc.double() * slopes_64(z, activation)
    # z and dz are each kept in the dtype of a. No second derivative is above 1.13; that of relu is never met here.
    kept = torch.finfo(a.dtype).eps
    bend = 0 if activation in (None, "relu") else 1.13
    dz_error = kept * dz.abs() + dc.double().abs() * (bend * (error + kept * z.abs()) + 1e-6)
    pairs = [(dz, dz_error, b.double().mT), (dz.mT, dz_error.mT, a.double())]
    for gradient, leaf, (x, x_error, y) in zip(found, leaves, pairs, strict=False):
        expected, bound = x @ y, x_error @ y.abs()
        if leaf is leaves[1]:
            expected, bound = expected.mT, bound.mT
        bound = bound + 1e-6 * (x.abs() @ y.abs()).max() + kept * expected.abs()
        assert (gradient.shape, gradient.dtype) == (leaf.shape, leaf.dtype)
        assert_within(gradient.detach(), expected, bound)
    if bias is not None:
        bound = dz_error.sum(0) + 1e-6 * dz.abs().sum(0) + kept * dz.sum(0).abs()
        assert_within(found[2].detach(), dz.sum(0), bound)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("activation", ACTIVATED)
def test_gradients(activation, dtype, device):
    a, b, bias = given(30, 20, 24, dtype, device)
    dc = random(30, 20, dtype=dtype, device=device, seed=3)
    assert_gradients(a, b, bias, dc, activation)
    if dtype == torch.float32:
        assert_gradients(a, b, None, dc, activation)
        assert_gradients(a, b, bias, dc, activation, create_graph=True)


def test_only_the_gradients_that_are_wanted(device):
    a, b, bias = given(4, 5, 6, torch.float32, device)
    for wanted in (a, b, bias):
        wanted.requires_grad_()
        matmul(a, b, bias, "gelu").sum().backward()
        assert [t.grad is not None for t in (a, b, bias)] == [t is wanted for t in (a, b, bias)]
        wanted.requires_grad_(False)
        wanted.grad = None
    assert not matmul(a, b, bias).requires_grad
    with torch.no_grad():
        assert not matmul(a.requires_grad_(), b).requires_grad


@pytest.mark.parametrize("activation", ACTIVATED)
def test_a_second_derivative_is_right(activation, device):
    given_ = given(4, 3, 5, torch.float32, device)

    def penalty(function, leaves):
        leaves = [t.detach().requires_grad_() for t in leaves]
        c = function(*leaves, activation)
        first = torch.autograd.grad((c * c).sum(), leaves, create_graph=True)
        return torch.autograd.grad(sum((g**2).sum() for g in first), leaves)

    pairs = zip(penalty(matmul, given_), penalty(matmul_reference, [t.double() for t in given_]), strict=True)
    for found, expected in pairs:
        torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-3)


def test_nan_and_infinity_as_in_pytorch(device):
    a, b, _ = given(20, 20, 20, torch.float32, device)
    a[3, 4], b[2, 7], a[9, 0] = float("nan"), float("inf"), -float("inf")
    expected = a.double() @ b.double()
    for activation in (None, "relu"):
        c = matmul(a, b, activation=activation)
        wanted = expected if activation is None else expected.relu()
        assert torch.equal(c.isnan(), wanted.isnan()) and torch.equal(c.isinf(), wanted.isinf())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("activation", [None, "gelu"])
def test_errors_are_no_larger_than_pytorch_s(activation, dtype, device):
    a, b, bias = given(64, 48, 300, dtype, device)
    exact = matmul_reference(a.double(), b.double(), bias.double(), activation)
    ours, theirs = matmul(a, b, bias, activation), matmul_reference(a, b, bias, activation)
    error, allowed = (ours.double() - exact).norm(), (theirs.double() - exact).norm()
    assert error <= 1.05 * allowed + 1e-7 * exact.norm(), f"{error:.3e} against {allowed:.3e}"


def test_the_reference_agrees_with_pytorch(device):
    a, b, bias = given(5, 6, 7, torch.float32, device)
    assert torch.equal(matmul_reference(a, b), a @ b)
    layer = torch.nn.functional.linear(a, b.mT, bias)
    for activation in ("relu", "gelu", "silu"):
        torch.testing.assert_close(matmul_reference(a, b, bias, activation), getattr(torch.nn.functional, activation)(layer))


def test_rows_that_begin_anywhere_are_copied_first(device, monkeypatch):
    monkeypatch.setattr("kernels.matmul.plan.WORTH_A_COPY", 1)
    monkeypatch.setattr("kernels.matmul.dispatch.LAUNCHES", {})
    choose_plan.cache_clear()
    a, b, bias = given(33, 41, 27, torch.float16, device, "ns")
    assert matmul_plan(a, b).copies == (True, True) and matmul_plan(a[:, :24].contiguous(), b[:24]).copies == (False, True)
    assert_matmul(matmul(a, b, bias), a, b, bias)
    choose_plan.cache_clear()


@pytest.mark.parametrize("layout", ["n", "t", "s"])
@pytest.mark.parametrize("shape", [(33, 41), (5, 700), (700, 3), (1, 13), (13, 1), (300, 260)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_a_copy_keeps_the_order_of_its_matrix_and_begins_each_line_at_16_bytes(layout, shape, dtype, device):
    matrix = laid(random(*shape, dtype=dtype, device=device), layout)
    copy = aligned_copy(poisoned(matrix, gap=3) if layout == "n" else matrix)
    assert torch.equal(copy, matrix) and matmul_layout(copy) and not is_shifted(copy, matmul_layout(copy))
    if min(shape) > 1:
        assert matmul_layout(copy) == ("columns" if layout == "t" else "rows")


@pytest.mark.parametrize("route", ["tiled", "split"])
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("step", [1, 2, 4, 8])
def test_lines_that_a_small_power_of_two_divides(route, layout, step, device):
    a, b, bias = given(5 * step, 9 * step, 13 * step, torch.float16, device, layout)
    lines = matmul_lines(a, b, a.new_empty(5 * step, 9 * step))
    assert [lines[name] for name in ("N_STEP", "A_STEP", "B_STEP")] == [step] * 3
    assert (lines["A_T"], lines["B_T"]) == (layout[0] == "t", layout[1] == "t")
    c, buffer = guarded((5 * step, 9 * step), torch.float16, device)
    assert_matmul(launch(route, a, b, c, Epilogue(bias=bias)), a, b, bias)
    assert_guard_untouched(c, buffer)


def test_both_gradients_share_a_copy(device, monkeypatch):
    monkeypatch.setattr("kernels.matmul.plan.WORTH_A_COPY", 1)
    monkeypatch.setattr("kernels.matmul.dispatch.LAUNCHES", {})
    monkeypatch.setattr("kernels.matmul.dispatch.COPIERS", {})
    choose_plan.cache_clear()
    a, b, bias = given(33, 41, 27, torch.float16, device)
    dc = random(33, 41, dtype=torch.float16, device=device, seed=3)
    assert torch.equal(for_both(dc, a, b), dc) and matmul_layout(for_both(dc, a, b)) == "rows"
    assert_gradients(a, b, bias, dc, None)
    aligned, wide = aligned_copy(dc), given(33, 40, 27, torch.float16, device)
    assert for_both(aligned, a, b) is aligned
    assert for_both(wide[0] @ wide[1], wide[0], wide[1]).stride() == (40, 1)
    choose_plan.cache_clear()


# What a plan says.


def test_a_plan_says_what_and_why(device):
    plan = matmul_plan(torch.empty(100, 64, device=device), torch.empty(64, 30, device=device))
    assert plan.kernel in MATMUL_KERNELS and plan.reason.endswith(".")
    assert plan.configuration["BLOCK_K"] > 0


def test_long_lines_between_multiples_of_128_bytes_are_copied_in_large_products():
    for sizes, copies in (((5496, 5496, 5496), (True, False)), ((1000, 8192, 1000), (False, False))):
        plan = choose_plan(*sizes, "half", "rows", "rows", "sm_90", 132, (True, False))
        assert plan.copies == copies and plan.kernel in ("hopper", "gluon", "narrow")
    assert choose_plan(5496, 5496, 5496, "half", "rows", "rows", "sm_80", 108, (True, True)).copies == (False, False)
    assert choose_plan(5496, 5496, 5496, "half", "", "rows", "sm_90", 132, (False, True)).copies == (True, True)
    lines = [torch.empty(4, columns, dtype=torch.float16) for columns in (64, 72, 512, 520)]
    assert [is_shifted(x, matmul_layout(x)) for x in lines] == [False, False, False, True]
    assert is_shifted(lines[3].t(), "columns") and not is_shifted(lines[3][:, 1:], "")


# The most shared memory that a program can have there; for the default, on any GPU since 2020.
SHARED = {"sm_80": 166_912, "sm_90": 232_448, "sm_100": 232_448, "default": 101_376}
KINDS = [(family, kind) for family, kinds in TILES.items() for kind in kinds]


@pytest.mark.parametrize(("family", "kind"), KINDS)
@pytest.mark.parametrize("layout", ["rows", "columns", ""])
def test_every_shape_has_a_plan(family, kind, layout):
    sizes = (1, 16, 100, 512, 4096, 65536)
    plans = [choose_plan(m, k, n, kind, layout, "rows", family, 132) for m in sizes for k in (1, 64, 8192, 65536) for n in sizes]
    for plan in plans:
        assert plan.kernel in MATMUL_KERNELS and plan.reason.endswith(".")
        assert plan.kernel not in ("hopper", "gluon", "narrow") or family == "sm_90" and kind in ("half", "fp8")
        names = ("WIDE", "NARROW", "BLOCK_K") if plan.kernel == "narrow" else ("BLOCK_M", "BLOCK_N", "BLOCK_K")
        block_m, block_n, block_k = (plan.configuration[name] for name in names)
        tiles = (block_m + block_n) * block_k * {"half": 2, "fp8": 1}.get(kind, 4)
        assert tiles * plan.configuration["num_stages"] <= SHARED[family]


def test_few_tiles_and_many_terms_are_split():
    assert choose_plan(16, 8192, 8192, "half", "rows", "rows", "sm_90", 132).kernel == "narrow"
    assert choose_plan(16, 8192, 8192, "half", "", "rows", "sm_90", 132).kernel == "narrow"  # after a copy
    assert choose_plan(16, 8192, 8192, "half", "rows", "rows", "sm_100", 148).kernel == "split"
    assert choose_plan(512, 65536, 512, "half", "rows", "rows", "sm_90", 132).configuration["parts"] == 8
    assert choose_plan(512, 65536, 512, "half", "rows", "rows", "sm_80", 108).kernel == "split"


@pytest.mark.parametrize(
    ("m", "n", "k", "tile", "parts"),
    [
        (512, 512, 512, (64, 64), 1),
        (1024, 1024, 4096, (64, 128), 1),
        (1024, 2048, 2048, (128, 128), 1),
        (256, 8192, 8192, (128, 128), 1),
        (96, 4096, 4096, (64, 64), 1),
        (8192, 128, 8192, (128, 64), 1),
        (128, 28672, 8192, (256, 128), 1),
        # The sums are so long that idle multiprocessors are given a part of them.
        (128, 1024, 8192, (128, 64), 8),
        (768, 768, 8192, (128, 128), 3),
        (256, 256, 65536, (64, 128), 16),
    ],
)
def test_a_product_of_one_wave_gives_every_program_one_tile(m, n, k, tile, parts):
    plan = choose_plan(m, k, n, "half", "rows", "rows", "sm_90", 132)
    assert (plan.kernel, plan.configuration["WIDE"], plan.configuration["NARROW"]) == ("narrow", *tile)
    assert plan.configuration["parts"] == parts
    assert -(-max(m, n) // tile[0]) * -(-min(m, n) // tile[1]) * parts <= 132


@pytest.mark.parametrize(("m", "n"), [(1536, 1536), (2048, 2048), (256, 16896 + 128), (128, 132 * 256 + 1)])
def test_a_product_of_several_waves_is_left_to_programs_that_persist(m, n):
    assert choose_plan(m, 4096, n, "half", "rows", "rows", "sm_90", 132).kernel in ("hopper", "gluon")


def test_autotune_asks_the_search_for_every_product(device, monkeypatch):
    a, b, bias = (t.requires_grad_() for t in given(20, 24, 16, torch.float32, device))
    asked: list[tuple] = []
    module = importlib.import_module("kernels.matmul.matmul")  # the package's attribute of that name is the function
    monkeypatch.setattr(module, "matmul_search", lambda a, b: (asked.append((*a.shape, b.shape[1])), matmul_plan(a, b))[1])
    c = matmul(a, b, bias, "silu", autotune=True)
    assert_matmul(c.detach(), a.detach(), b.detach(), bias.detach(), "silu")
    assert asked == [(20, 16, 24)]
    c.sum().backward()
    assert sorted(asked) == [(16, 20, 24), (20, 16, 24), (20, 24, 16)]
    matmul(a, b)
    assert len(asked) == 3


def test_autotune_is_refused_where_nothing_can_be_timed(device):
    a, b, _ = given(20, 24, 16, torch.float32, device)
    if device == "cpu":
        with pytest.raises(ValueError, match="^a: expected a CUDA tensor, because a search compares times on a GPU"):
            matmul(a, b, autotune=True)
    else:
        assert_matmul(matmul(a, b, autotune=True), a, b)


# Bad input.


@pytest.mark.parametrize("wrong", [torch.int32, torch.bool, torch.float64, torch.complex64, torch.float8_e4m3fn], ids=str)
@pytest.mark.parametrize("which", ["a", "b", "bias"])
def test_other_dtypes_are_refused(which, wrong, device):
    arguments = {"a": torch.ones(2, 3, device=device), "b": torch.ones(3, 4, device=device), "bias": torch.ones(4, device=device)}
    arguments[which] = arguments[which].to(wrong)
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^{which}: expected dtype float32, float16 or bfloat16, got {name}$"):
        matmul(**arguments)


def test_bad_arguments_are_refused(device):
    a, b = torch.ones(2, 3, device=device), torch.ones(3, 4, device=device)
    with pytest.raises(TypeError, match=r"^a: expected a torch.Tensor, got list$"):
        matmul([[1.0]], b)
    with pytest.raises(ValueError, match=r"^a: expected two dimensions, got shape \(3,\)$"):
        matmul(a[0], b)
    with pytest.raises(ValueError, match=r"^b: expected two dimensions, got shape \(1, 3, 4\)$"):
        matmul(a, b[None])
    with pytest.raises(TypeError, match=r"^b: expected dtype float32, the dtype of a, got float16$"):
        matmul(a, b.half())
    with pytest.raises(ValueError, match=r"^b: expected 3 rows, the columns of a of shape \(2, 3\), got shape \(4, 3\)$"):
        matmul(a, b.mT)
    with pytest.raises(ValueError, match=r"^b: expected (device|a CUDA tensor)"):
        matmul(a, b.to("meta"))
    for shape in ((3,), (1,), (), (1, 4)):
        with pytest.raises(ValueError, match=r"^bias: expected shape \(4,\), one number for each column of b, got \("):
            matmul(a, b, torch.ones(shape, device=device))
    with pytest.raises(TypeError, match=r"^activation: expected None or a str, got int$"):
        matmul(a, b, None, 1)
    for wrong in ("tanh", "RELU", ""):
        with pytest.raises(ValueError, match=rf"^activation: expected None, 'relu', .* or 'silu', got '{wrong}'$"):
            matmul(a, b, None, wrong)
    assert ACTIVATIONS == ACTIVATED


# Eight bits.


def eight_bits(m: int, n: int, k: int, device: str, rows: bool) -> tuple:
    a, b, _ = given(m, n, k, torch.float32, device)
    a, b = (t.to(torch.float8_e4m3fn) for t in (a, b.mT.contiguous()))
    shapes = ((m, 1), (1, n)) if rows else ((), (1,))
    scales = (random(*shape, device=device, seed=4 + i).abs() + 0.1 for i, shape in enumerate(shapes))
    return a, b.mT, *scales


def assert_scaled(c, a, b, scale_a, scale_b, bias=None) -> None:
    expected, sizes = a.double() @ b.double(), a.double().abs() @ b.double().abs()
    expected, sizes = (t * scale_a.double() * scale_b.double() for t in (expected, sizes))
    if bias is not None:
        expected, sizes = expected + bias.double(), sizes + bias.double().abs()
    # Hopper's tensor cores keep 13 bits behind the point of the largest of the terms that they add at a time.
    step = 2.0**-20 if c.device.type == "cpu" else 2.0**-12
    assert_within(c, expected, torch.finfo(c.dtype).eps * expected.abs() + step * sizes)


@needs_type("fp8")
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (33, 40, 50), (64, 64, 64), (5, 7, 0)])
def test_eight_bit_floats(rows, m, n, k, device):
    a, b, scale_a, scale_b = eight_bits(m, n, k, device, rows)
    bias = random(n, device=device, seed=2)
    assert_scaled(scaled_matmul(a, b, scale_a, scale_b), a, b, scale_a, scale_b)
    for dtype in DTYPES:
        c = scaled_matmul(a, b, scale_a, scale_b, bias, dtype)
        assert c.dtype == dtype
        assert_scaled(c, a, b, scale_a, scale_b, bias)


@needs_type("fp8")
def test_a_scale_for_the_matrix_beside_one_for_each_column(device):
    a, b, scale_a, scale_b = eight_bits(20, 24, 48, device, True)
    assert_scaled(scaled_matmul(a, b, scale_a[0], scale_b), a, b, scale_a[0], scale_b)
    assert_scaled(scaled_matmul(a, b, scale_a, scale_b[0, 0]), a, b, scale_a, scale_b[0, 0])


@needs_type("fp8")
def test_bad_eight_bit_arguments_are_refused(device):
    a, b, scale_a, scale_b = eight_bits(2, 4, 3, device, True)
    with pytest.raises(TypeError, match=r"^a: expected a torch.Tensor, got NoneType$"):
        scaled_matmul(None, b, scale_a, scale_b)
    with pytest.raises(TypeError, match=r"^b: expected dtype float8_e4m3fn, got float32$"):
        scaled_matmul(a, b.float(), scale_a, scale_b)
    with pytest.raises(ValueError, match=r"^a: expected two dimensions, got shape \(3,\)$"):
        scaled_matmul(a[0], b, scale_a, scale_b)
    with pytest.raises(ValueError, match=r"^b: expected 3 rows, the columns of a of shape \(2, 3\), got shape \(4, 3\)$"):
        scaled_matmul(a, b.mT, scale_a, scale_b)
    with pytest.raises(TypeError, match=r"^scale_a: expected a torch.Tensor, got float$"):
        scaled_matmul(a, b, 1.0, scale_b)
    with pytest.raises(TypeError, match=r"^scale_b: expected dtype float32, got float16$"):
        scaled_matmul(a, b, scale_a, scale_b.half())
    with pytest.raises(ValueError, match=r"^scale_b: expected one number or shape \(1, 4\), got \(4, 1\)$"):
        scaled_matmul(a, b, scale_a, scale_b.mT)
    with pytest.raises(ValueError, match=r"^bias: expected shape \(4,\), one number for each column of b, got \(2,\)$"):
        scaled_matmul(a, b, scale_a, scale_b, torch.ones(2, device=device))
    with pytest.raises(TypeError, match=r"^out_dtype: expected torch.bfloat16, torch.float16 or torch.float32, got torch.int8$"):
        scaled_matmul(a, b, scale_a, scale_b, None, torch.int8)


def test_a_gpu_without_eight_bit_floats_is_refused(device, monkeypatch):
    a, b, scale_a, scale_b = eight_bits(2, 4, 3, device, True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: (8, 0))
    if device == "cpu":
        scaled_matmul(a, b, scale_a, scale_b)
        return
    with pytest.raises(ValueError, match=r"^a: expected a GPU of compute capability 8.9 or more .*, got one of 8.0$"):
        scaled_matmul(a, b, scale_a, scale_b)


# On a GPU.

LARGE = [(1024, 1024, 1024), (1000, 1160, 584), (257, 513, 8200), (16, 4096, 4096), (1, 8192, 4096), (130, 96, 65536)]
# Few columns in one wave of large tiles; and more tiles than multiprocessors.
LARGE += [(100, 20000, 264), (2040, 2040, 136)]


@needs("cuda")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", ["nn", "nt", "tn"])
@pytest.mark.parametrize(("m", "n", "k"), [*LARGE, (1023, 1025, 1027)])
def test_on_the_gpu_at_full_size(m, n, k, layout, dtype, device):
    a, b, bias = given(m, n, k, dtype, device, layout)
    assert_matmul(matmul(a, b, bias, "relu"), a, b, bias, "relu")


@needs("cuda")
@needs_type("fp8")
@pytest.mark.parametrize(("m", "n", "k"), LARGE)
def test_eight_bit_floats_at_full_size(m, n, k, device):
    arguments = eight_bits(m, n, k, device, True)
    assert_scaled(scaled_matmul(*arguments), *arguments)


@pytest.mark.parametrize("turned", [False, True])
def test_a_launch_describes_the_matrices_of_its_call_and_keeps_none(turned):
    first, second = (torch.zeros(64, 128, dtype=torch.bfloat16) for _ in range(2))
    first, second = (first.mT, second.mT) if turned else (first, second)
    describe, gone = descriptor_factory(descriptor(first, 32, 64)), weakref.ref(first)
    del first
    found, wanted = describe(second), descriptor(second, 32, 64)
    assert gone() is None
    assert type(found) is type(wanted) and vars(found).keys() == vars(wanted).keys() and found.base is second
    assert {**vars(found), "base": None} == {**vars(wanted), "base": None}


@needs("cuda")
def test_tf32_where_pytorch_s_setting_says_so(device, monkeypatch):
    a, b, _ = given(200, 200, 1000, torch.float32, device)
    exact = matmul(a, b)
    monkeypatch.setattr(torch.backends.cuda.matmul, "fp32_precision", "tf32")
    assert_matmul(matmul(a, b), a, b, product_step=TF32_STEP)
    assert not torch.equal(matmul(a, b), exact)


@needs("cuda")
def test_more_than_two_to_the_31_elements(device):
    need_free_memory(40)
    m, n, k = 2**15 + 8, 2**16 + 8, 64
    a, b, _ = given(m, n, k, torch.bfloat16, device)
    c = matmul(a, b)
    for part in (slice(0, 3), slice(m // 2, m // 2 + 3), slice(-3, None)):
        assert_matmul(c[part], a[part], b)
    tall = matmul(c.mT[:, :64], random(64, 16, dtype=torch.bfloat16, device=device))
    assert_matmul(tall[-3:], c[:64, -3:].mT, random(64, 16, dtype=torch.bfloat16, device=device))
