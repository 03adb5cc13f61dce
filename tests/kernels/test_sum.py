"""kernels.sum against float64: every route through one kernel, every dimension, every layout."""

import contextlib
import importlib
import math
from dataclasses import replace

import pytest
import torch

from kernels import sum as sum_  # the builtin keeps its name here
from kernels.common.counters import UNUSED, recorded_arrivals
from kernels.reductions.plan import reduction_plan
from kernels.reductions.sum import sum_kernel, sum_planned, sum_reference
from tests.interpreter import only_touching
from tests.kernels.numerics import (
    DTYPES,
    FLOAT32_EPS,
    VIEWS,
    assert_guard_untouched,
    assert_within,
    guarded,
    poisoned,
    random,
    relative_step,
)
from tests.needs import need_free_memory, needs

NAN, INF = float("nan"), float("inf")


def sum_error(x: torch.Tensor, dim: int | None, dtype: torch.dtype) -> torch.Tensor:
    """What float32 additions and one rounding to `dtype` may leave each sum off by: a step for each addition on its way.

    A lane adds up one number of every block of its program's, and then the lanes meet in a tree.
    """
    x = x.double()
    terms = x.numel() if dim is None else x.shape[dim] if x.ndim else 1
    additions = math.log2(max(terms, 1)) + min(terms, 8 + terms / 2**12) + 2
    return FLOAT32_EPS / 2 * additions * x.abs().sum(dim) + relative_step(dtype) * x.sum(dim).abs()


def assert_sum(y: torch.Tensor, x: torch.Tensor, dim: int | None = None) -> None:
    expected = x.double().sum(dim)
    assert (y.shape, y.dtype, y.device) == (expected.shape, x.dtype, x.device)
    assert_within(y, expected, sum_error(x, dim, x.dtype))


SHAPES = [(1,), (5,), (4096,), (30_001,), (1, 3000), (3000, 1), (3, 5000), (120, 100), (600, 21), (5, 130, 3), (3, 4, 5, 6)]
CASES = [(shape, torch.float32) for shape in SHAPES]
CASES += [(shape, dtype) for shape in ((9001,), (3, 2500), (40, 30), (5, 60, 3)) for dtype in (torch.float16, torch.bfloat16)]


@pytest.mark.parametrize(("shape", "dtype"), CASES, ids=str)
def test_everything_and_every_dim(shape, dtype, device):
    x = random(*shape, dtype=dtype, device=device) + 0.25
    kept = x.clone()
    assert_sum(sum_(x), x)
    for dim in (-1, *range(len(shape))):
        assert_sum(sum_(x, dim), x, dim)
    assert torch.equal(x, kept)


# Results and terms a program, and how many programs share the terms: tiles of every shape, ragged in both directions.
TILES = [(1, 2, 1), (1, 8, 1), (1, 8, 3), (1, 64, 2), (4, 8, 1), (4, 16, 5), (16, 4, 1), (16, 4, 4), (64, 2, 9)]


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("tile", TILES, ids=str)
def test_the_kernel_touches_its_terms_and_nothing_else(tile, dim, device):
    block_m, block_n, parts = tile
    dtype = torch.bfloat16
    x = poisoned(random(2, 4, 35, dtype=dtype, device=device) + 1, gap=3)
    plan = reduction_plan(x.shape, x.stride(), dim)
    plan = replace(plan, block_m=block_m, block_n=block_n, parts=min(parts, -(-plan.n_terms // block_n)), num_warps=4)
    y, buffer = guarded((plan.n_outer * plan.n_results,), dtype, device)
    sum_planned(x, y, plan)
    assert_sum(y.view(x.sum(dim).shape), x, dim)
    assert_guard_untouched(y, buffer)


@pytest.mark.parametrize("tile", [(4, 16, 1), (4, 16, 3), (16, 8, 2), (2, 32, 5)], ids=str)
def test_every_result_is_stored_once_and_nothing_is_read_beside_the_terms(tile, device):
    """Also where a mask hides it from the result: terms of rows that are not there, and an early last program."""
    block_m, block_n, parts = tile
    x = random(7, 100, device=device)
    plan = reduction_plan(x.shape, x.stride(), 1)
    plan = replace(plan, block_m=block_m, block_n=block_n, parts=parts, num_warps=4)
    y, partial = torch.empty(7, device=device), torch.empty(plan.scratch, device=device)
    arrived = torch.zeros(plan.programs if parts > 1 else 0, dtype=torch.int32, device=device)
    watched = only_touching([x, partial], [y, arrived] + [partial] * (parts > 1))
    with watched if x.device.type == "cpu" else contextlib.nullcontext():
        sum_kernel[plan.grid](x, y, partial, arrived, *plan.sizes, **plan.meta)
    assert_sum(y, x, 1)


def test_terms_far_apart_have_addresses_of_64_bits(device):
    """Four terms over five gibibytes, of which the operating system hands out the few pages that are touched."""
    memory = torch.empty(5 * 2**30, dtype=torch.uint8, device=device).view(torch.float16)
    x = memory.as_strided((2, 4), (1, 2**29 + 2**28))
    x.copy_(random(2, 4, dtype=torch.float16, device=device))
    assert_sum(sum_(x, 1), x.clone(), 1)


@pytest.mark.parametrize("terms", [1, 15, 16, 17, 31, 32, 33, 48, 95, 96, 97])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_terms_that_fill_their_blocks_and_do_not(parts, terms, device):
    x = poisoned(random(3, terms, device=device) + 1)
    plan = reduction_plan(x.shape, x.stride(), 1)
    plan = replace(plan, block_m=2, block_n=16, parts=min(parts, -(-terms // 16)), num_warps=4)
    y, buffer = guarded((3,), x.dtype, device)
    assert_sum(sum_planned(x, y, plan), x, 1)
    assert_guard_untouched(y, buffer)


def test_the_last_program_leaves_the_counters_at_zero(device, monkeypatch):
    module, lent = importlib.import_module("kernels.reductions.sum"), []

    def lend(x, count, key):
        lent.append(torch.zeros(count + 1, dtype=torch.int32, device=device))
        return lent[-1]

    monkeypatch.setattr(module, "arrival_counters", lend)
    for shape, dim in (((20_000,), None), ((2, 20_000), 1), ((3000, 40), 0)):
        x = random(*shape, device=device)
        assert_sum(sum_(x, dim), x, dim)
        assert lent and not lent[-1].any()


def test_many_parts_meet_in_one_place(device):
    x = random(150_000, device=device)
    plan = reduction_plan(x.shape, x.stride(), None)
    assert plan.parts > 8
    assert_sum(sum_(x), x)


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("shape", [(40, 70), (3, 9, 33), (2, 3, 7, 11)], ids=str)
def test_views(shape, name, device):
    x = VIEWS[name](random(*shape, device=device))
    for dim in (None, *range(x.ndim)):
        assert_sum(sum_(x, dim), x, dim)


@pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_permuted_dimensions(order, device):
    x = random(5, 20, 33, device=device).permute(order)
    for dim in (None, 0, 1, 2):
        assert_sum(sum_(x, dim), x, dim)


def test_layouts_that_have_to_be_copied(device):
    x = random(6, 7, 8, device=device)
    for view, dim in ((x[:, 1:3], None), (x[..., :3], None), (x.view(2, 3, 7, 8)[:, ::2, :, ::2], 2)):
        assert reduction_plan(view.shape, view.stride(), dim).copy
        assert_sum(sum_(view, dim), view, dim)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)], ids=str)
def test_sums_of_nothing_are_zero(shape, device):
    x = torch.empty(shape, device=device, dtype=torch.bfloat16)
    for dim in (None, *range(len(shape))):
        y = sum_(x, dim)
        assert y.dtype == x.dtype and torch.equal(y, x.sum(dim))


def test_a_tensor_without_dimensions(device):
    x = torch.tensor(2.5, device=device)
    for dim in (None, 0, -1):
        assert torch.equal(sum_(x, dim), x)
    x.requires_grad_()
    for dim in (None, 0):
        (dx,) = torch.autograd.grad(sum_(x, dim), x, torch.tensor(3.0, device=device))
        assert torch.equal(dx, torch.tensor(3.0, device=device))


def test_dim_is_all_unless_said(device):
    x = random(3, 4, device=device)
    assert torch.equal(sum_(x), sum_(x, dim=None)) and sum_(x).shape == ()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_nan_and_infinity_as_in_pytorch(dim, dtype, device):
    x = random(9, 700, dtype=dtype, device=device)
    for row, values in enumerate([[NAN], [INF], [-INF], [INF, INF], [INF, -INF], [NAN, INF]]):
        for at, value in enumerate(values):
            x[row, 650 + at] = value
    x = x if dim == 1 else x.mT.contiguous()
    torch.testing.assert_close(sum_(x, dim), x.float().sum(dim).to(dtype), equal_nan=True, rtol=2e-2, atol=2e-1)
    assert sum_(x).isnan()


def test_sixteen_bit_sums_are_rounded_once(device):
    x = torch.tensor([60_000.0, 60_000.0, -60_000.0], device=device, dtype=torch.float16)
    assert sum_(x).item() == 60_000  # on the way lies more than float16 can hold
    assert sum_(x[:2]).item() == INF
    ones = torch.ones(3000, device=device, dtype=torch.bfloat16)
    assert sum_(ones).item() == 3008  # the bfloat16 nearest to 3000


def test_the_same_bits_every_time(device):
    x = random(30_000, device=device)
    assert torch.equal(sum_(x), sum_(x))
    x = x.view(15_000, 2)
    assert torch.equal(sum_(x, 0), sum_(x, 0))


@pytest.mark.parametrize("shape", [(30_000,), (20, 1000)], ids=str)
def test_no_less_exact_than_pytorch(shape, device):
    ours, theirs = [], []
    for seed in range(5):
        x = random(*shape, device=device, seed=seed) + 0.5
        expected = x.double().sum(-1)
        ours.append((sum_(x, -1).double() - expected).square().mean())
        theirs.append((x.sum(-1).double() - expected).square().mean())
    assert torch.stack(ours).mean().sqrt() <= 1.25 * torch.stack(theirs).mean().sqrt()


def test_a_conjugate_with_its_sign_still_to_be_turned(device):
    x = torch._neg_view(random(3, 4, device=device))
    assert x.is_neg()
    for dim in (None, 0, 1):
        assert_sum(sum_(x, dim), x.clone(), dim)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
def test_gradient(dim, dtype, device):
    x = random(4, 5, 6, dtype=dtype, device=device).requires_grad_()
    dy = random(*x.sum(dim).shape, dtype=dtype, device=device, seed=1)
    (dx,) = torch.autograd.grad(sum_(x, dim), x, dy)
    (expected,) = torch.autograd.grad(x.sum(dim), x, dy)
    assert dx.dtype == x.dtype and torch.equal(dx, expected)


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_a_gradient_of_a_gradient(dim, device):
    def penalty(function, x):
        (dx,) = torch.autograd.grad((function(x * x, dim) ** 3).sum(), x, create_graph=True)
        return torch.autograd.grad((dx**2).sum(), x)[0]

    x = random(3, 4, device=device).requires_grad_()
    expected = penalty(torch.sum, x.detach().double().requires_grad_())
    torch.testing.assert_close(penalty(sum_, x).double(), expected, rtol=1e-4, atol=1e-4)


def test_has_no_graph_where_no_gradient_is_wanted(device):
    x = random(4, device=device)
    assert not sum_(x).requires_grad
    with torch.no_grad():
        assert not sum_(x.requires_grad_()).requires_grad


def test_the_reference_agrees_with_pytorch(device):
    x = random(5, 100, device=device)
    for dim in (None, 0, 1, -1):
        torch.testing.assert_close(sum_reference(x, dim), x.sum(dim))


@pytest.mark.parametrize("wrong", [torch.int32, torch.int64, torch.bool, torch.float64, torch.complex64], ids=str)
def test_other_dtypes_are_refused(wrong, device):
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^x: expected dtype float32, float16 or bfloat16, got {name}$"):
        sum_(torch.ones(3, dtype=wrong, device=device))


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"^x: expected a torch.Tensor, got list$"):
        sum_([1.0, 2.0])


@pytest.mark.parametrize(("shape", "dim"), [((2, 3), 2), ((2, 3), -3), ((), 1)])
def test_a_dim_out_of_range_is_refused(shape, dim, device):
    with pytest.raises(ValueError, match=rf"^dim: expected a dimension from .* for shape .*, got {dim}$"):
        sum_(torch.ones(shape, device=device), dim)


@pytest.mark.parametrize("dim", [1.0, "0", True, (0, 1)])
def test_a_dim_that_is_no_int_is_refused(dim, device):
    with pytest.raises(TypeError, match=rf"^dim: expected an int, got {type(dim).__name__}$"):
        sum_(torch.ones(2, 3, device=device), dim)


@needs("cuda")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(2**24 + 1,), (8192, 4096), (262_144, 1001), (16, 1_000_003)], ids=str)
def test_on_the_gpu_at_full_size(shape, dtype, device):
    x = random(*shape, dtype=dtype, device=device)
    for dim in (None, *range(len(shape))):
        y = sum_(x, dim)
        assert_sum(y, x, dim)
        assert all(torch.equal(y, sum_(x, dim)) for _ in range(3))


@needs("cuda")
def test_on_two_streams_and_in_a_graph(device):
    x = random(2**22, device=device)
    expected, first, second = sum_(x), torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    found = []
    for _ in range(50):
        for stream in (first, second):
            with torch.cuda.stream(stream):
                found.append(sum_(x))
    torch.cuda.synchronize()
    assert all(torch.equal(y, expected) for y in found)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = sum_(x)
    for _ in range(3):
        y.fill_(NAN)
        graph.replay()
        assert torch.equal(y, expected)
    # Two graphs at once, on two streams, beside calls on a third: none may count the others' programs.
    graphs, results = [torch.cuda.CUDAGraph() for _ in range(2)], []
    for graph in graphs:
        with torch.cuda.graph(graph):
            results.append(sum_(x))
    torch.cuda.synchronize()
    for _ in range(50):
        for graph, stream in zip(graphs, (first, second), strict=True):
            with torch.cuda.stream(stream):
                graph.replay()
        found.append(sum_(x))
    torch.cuda.synchronize()
    assert all(torch.equal(y, expected) for y in (*results, *found))


def test_every_recorded_launch_has_counters_of_its_own(monkeypatch):
    x = torch.empty(1)
    monkeypatch.setitem(UNUSED, x.get_device(), torch.zeros(10, dtype=torch.int32))
    first, second, third = (recorded_arrivals(x, 4) for _ in range(3))
    places = [t.data_ptr() + 4 * i for t in (first, second, third) for i in range(t.shape[0])]
    assert len(set(places)) == 12 and not torch.cat((first, second, third)).any()
    assert UNUSED[x.get_device()].shape[0] == 2  # too few for the third, which got new ones


@needs("cuda")
@pytest.mark.parametrize("dim", [None, 0, 1])
def test_more_than_two_to_the_31_elements(dim, device):
    need_free_memory(20)
    for shape in ((2**21 + 3, 1024), (1024, 2**21 + 3), (1, 2**31 + 5), (2**31 + 5, 1)):
        x = torch.randint(-8, 8, shape, device=device, dtype=torch.int8).to(torch.bfloat16)
        found, expected = (y.reshape(-1).split(2**28) for y in (sum_(x, dim), x.sum(dim, dtype=torch.float32)))
        for y, wanted in zip(found, expected, strict=True):  # in pieces, for the sake of memory
            assert_within(y, wanted.double(), wanted.double().abs() * 2**-8 + 1e4 * FLOAT32_EPS * x.shape[dim or 0] + 1)
