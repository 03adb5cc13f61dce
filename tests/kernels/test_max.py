"""kernels.max against PyTorch, to the last bit: values and indices, every dimension, every layout."""

import contextlib
import importlib
from collections import Counter
from dataclasses import replace

import pytest
import torch

from kernels import max as max_  # the builtin keeps its name here
from kernels.reductions.max import max_reference
from kernels.reductions.max_tile import max_kernel, max_planned
from kernels.reductions.plan import reduction_plan
from tests.interpreter import addresses, check_addresses, only_touching
from tests.kernels.numerics import DTYPES, VIEWS, assert_guard_untouched, guarded, poisoned, random
from tests.needs import need_free_memory, needs

NAN, INF = float("nan"), float("inf")


def assert_max(x: torch.Tensor, dims=(None,)) -> None:
    """Values and indices are PyTorch's."""
    for dim in dims:
        found, expected = max_(x, dim), max_reference(x, dim)
        if dim is None:
            assert (found.shape, found.dtype, found.device) == (expected.shape, x.dtype, x.device)
            torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
        else:
            assert type(found) is torch.return_types.max
            torch.testing.assert_close(found.values, expected.values, rtol=0, atol=0, equal_nan=True)
            torch.testing.assert_close(found.indices, expected.indices)


SHAPES = [(1,), (5,), (4096,), (9001,), (1, 3000), (300, 1), (3, 2500), (40, 30), (5, 60, 3), (2, 3, 4, 5)]
CASES = [(shape, torch.float32) for shape in SHAPES]
CASES += [(shape, dtype) for shape in ((9001,), (3, 2500), (40, 30), (5, 60, 3)) for dtype in (torch.float16, torch.bfloat16)]


@pytest.mark.parametrize(("shape", "dtype"), CASES, ids=str)
def test_everything_and_every_dim(shape, dtype, device):
    x = random(*shape, dtype=dtype, device=device) - 5
    kept = x.clone()
    assert_max(x, (None, -1, *range(len(shape))))
    assert torch.equal(x, kept)


@pytest.mark.parametrize("shape", [(2, 2500), (300, 20), (2, 90, 6)], ids=str)
def test_the_first_of_equal_elements(shape, device):
    x = (random(*shape, device=device) * 2).round()
    assert_max(x, range(len(shape)))
    assert_max(torch.zeros_like(x), range(len(shape)))


# Results and terms a program, and how many programs share the terms: tiles of every shape, ragged in both directions.
TILES = [(1, 2, 1), (1, 8, 1), (1, 8, 3), (1, 64, 2), (4, 8, 1), (4, 16, 5), (16, 4, 1), (16, 4, 4), (64, 2, 9)]


@pytest.mark.parametrize("low", ["ties", "-inf"])
@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("tile", TILES, ids=str)
def test_the_kernel_touches_its_terms_and_nothing_else(tile, dim, low, device):
    block_m, block_n, parts = tile
    x = random(2, 3, 19, dtype=torch.bfloat16, device=device) - 9
    x = poisoned({"ties": x.round(), "-inf": torch.full_like(x, -INF)}[low], gap=3)
    plan = reduction_plan(x.shape, x.stride(), dim)
    plan = replace(plan, block_m=block_m, block_n=block_n, parts=min(parts, -(-plan.n_terms // block_n)), num_warps=4)
    n = plan.n_outer * plan.n_results
    y, buffer = guarded((n,), x.dtype, device)
    index_buffer = torch.full((n + 2000,), 77, dtype=torch.int64, device=device)
    index = index_buffer[1000 : 1000 + n]
    max_planned(x, y, index, plan)
    expected = torch.max(x, dim)
    assert torch.equal(y.view(expected.values.shape), expected.values)
    assert torch.equal(index.view(expected.values.shape), expected.indices)
    assert_guard_untouched(y, buffer)
    assert (index_buffer[:1000] == 77).all() and (index_buffer[1000 + n :] == 77).all()


@contextlib.contextmanager
def each_read_once(x: torch.Tensor):
    """Raise unless a kernel loads every element of `x` exactly once: these reads are all the time it takes."""
    read: Counter[int] = Counter()

    def noted(pointers):
        read.update(pointers.tolist())
        return pointers == pointers

    with pytest.MonkeyPatch.context() as patch:
        check_addresses(patch, "create_masked_load", noted)
        yield
    times = {read[address] for address in addresses([x])}
    assert times == {1}, f"elements were read so many times: {sorted(times)}"


@pytest.mark.parametrize("tile", [(4, 16, 1), (4, 16, 3), (16, 8, 2), (2, 32, 3)], ids=str)
def test_every_result_is_stored_once_and_every_term_read_once(tile, device):
    """Also where a mask hides it from the result: terms of rows that are not there, and an early last program."""
    block_m, block_n, parts = tile
    x = random(7, 100, device=device)
    plan = reduction_plan(x.shape, x.stride(), 1, indices=True)
    plan = replace(plan, block_m=block_m, block_n=block_n, parts=parts, num_warps=4)
    y, partial = torch.empty(7, device=device), torch.empty(plan.scratch, device=device)
    index, partial_index = (like.to(torch.int64) for like in (y, partial))
    arrived = torch.zeros(plan.programs if parts > 1 else 0, dtype=torch.int32, device=device)
    left = [partial, partial_index]
    with contextlib.ExitStack() as watched:
        if x.device.type == "cpu":
            watched.enter_context(only_touching([x, *left], [y, index, arrived] + left * (parts > 1)))
            watched.enter_context(each_read_once(x))
        max_kernel[plan.grid](x, y, index, *left, arrived, *plan.sizes, **plan.meta, INDICES=True)
    assert torch.equal(y, x.amax(1)) and torch.equal(index, x.argmax(1))


def test_terms_far_apart_have_addresses_of_64_bits(device):
    """Four terms over five gibibytes, of which the operating system hands out the few pages that are touched."""
    memory = torch.empty(5 * 2**30, dtype=torch.uint8, device=device).view(torch.float16)
    x = memory.as_strided((2, 4), (1, 2**29 + 2**28))
    x.copy_(torch.tensor([[1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 2.0, 3.0]]))
    values, indices = max_(x, 1)
    assert values.tolist() == [4, 4] and indices.tolist() == [3, 0]


def test_an_index_has_64_bits(device):
    """The first of many programs, alone: it looks at the first block and at what no whole block holds, far behind."""
    n_terms, block, parts = 2**31 + 5, 4096, 2**19
    x = torch.empty(n_terms, dtype=torch.float16, device=device)
    x[:block] = 0
    x[-5:] = 1
    partial, index = torch.empty(1, device=device), torch.empty(1, dtype=torch.int64, device=device)
    arrived = torch.zeros(1, dtype=torch.int32, device=device)
    meta = {"OUTER": False, "BLOCK_M": 1, "BLOCK_N": block, "PARTS": 2, "STAGES": 1, "INDICES": True, "num_warps": 4}
    meta |= {"RESULT_UNIT": 1, "TERM_UNIT": 1, "ONE_BLOCK": False}
    max_kernel[(1, 1)](x, partial, index, partial, index, arrived, 0, n_terms, 1, 1, n_terms, parts, **meta)
    assert partial.item() == 1 and index.item() == 2**31


@pytest.mark.parametrize("terms", [1, 15, 16, 17, 32, 33, 96, 97])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_all_of_it_where_terms_fill_their_blocks_and_do_not(parts, terms, device):
    x = poisoned(random(terms, device=device) - 9)
    plan = reduction_plan(x.shape, x.stride(), None)
    plan = replace(plan, block_m=1, block_n=16, parts=min(parts, -(-terms // 16)), num_warps=4)
    y, buffer = guarded((1,), x.dtype, device)
    max_planned(x, y, None, plan)
    assert torch.equal(y[0], x.max())
    assert_guard_untouched(y, buffer)


def test_the_last_program_leaves_the_counters_at_zero(device, monkeypatch):
    module, lent = importlib.import_module("kernels.reductions.max_tile"), []

    def lend(x, count, key):
        lent.append(torch.zeros(count + 1, dtype=torch.int32, device=device))
        return lent[-1]

    monkeypatch.setattr(module, "arrival_counters", lend)
    for shape, dim in (((9000,), None), ((2, 9000), 1), ((1000, 40), 0)):
        assert_max(random(*shape, device=device), (dim,))
        assert lent and not lent[-1].any()


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("shape", [(12, 40), (2, 4, 11), (2, 2, 5, 7)], ids=str)
def test_views(shape, name, device):
    x = VIEWS[name](random(*shape, device=device))
    assert_max(x, (None, *range(x.ndim)))


SPECIAL = [[NAN], [INF], [-INF], [INF, NAN, INF], [NAN, 3.0, NAN], [INF, INF], [-INF, NAN], [0.0, -0.0]]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("at", [0, 650, 2040])
def test_nan_and_infinity_as_in_pytorch(at, dtype, device):
    x = random(len(SPECIAL) + 2, 2500, dtype=dtype, device=device)
    for row, values in enumerate(SPECIAL):
        x[row, at : at + len(values)] = torch.tensor(values, dtype=dtype)
    x[-1] = -INF
    x[-2] = NAN
    assert_max(x, (1,))
    assert_max(x[:, at : at + 40].mT.contiguous(), (0,))
    for row in x:
        assert_max(row)


def test_nan_wins_wherever_it_stands_among_the_parts(device):
    x = random(9000, device=device)
    for at in (0, 2047, 2048, 6000, 8999):
        holed = x.clone()
        holed[at] = NAN
        assert_max(holed, (None, 0))


@pytest.mark.parametrize(("shape", "dim"), [((0,), None), ((0,), 0), ((0, 3), 0), ((3, 0), 1), ((3, 0), None), ((2, 0, 3), -2)])
def test_there_is_no_largest_of_nothing(shape, dim, device):
    where = "" if dim is None else f" along dim {dim % len(shape)}"
    with pytest.raises(ValueError, match=rf"^x: expected at least one element{where}, got shape "):
        max_(torch.empty(shape, device=device), dim)


def test_nothing_to_search_for(device):
    assert_max(torch.empty(3, 0, 2, device=device), (0, 2))


def test_a_tensor_without_dimensions(device):
    x = torch.tensor(2.5, device=device)
    assert_max(x, (None, 0, -1))
    x.requires_grad_()
    for y in (max_(x), max_(x, 0).values):
        assert torch.equal(torch.autograd.grad(y, x)[0], torch.tensor(1.0, device=device))


def test_dim_is_all_unless_said(device):
    x = random(3, 4, device=device)
    assert torch.equal(max_(x), max_(x, dim=None)) and max_(x).shape == ()


def test_a_sign_still_to_be_turned(device):
    x = torch._neg_view(random(3, 40, device=device))
    assert x.is_neg()
    assert_max(x, (None, 0, 1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", ["numbers", "ties", "nan"])
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
def test_gradient(dim, kind, dtype, device):
    x = random(4, 5, 6, dtype=dtype, device=device)
    x = x.round() if kind == "ties" else x
    if kind == "nan":
        x[1, 2, 3] = x[1, 4, 3] = x[0, 0, 0] = NAN
    x.requires_grad_()
    found, expected = (f(x) if dim is None else f(x, dim).values for f in (max_, torch.max))
    dy = random(*expected.shape, dtype=dtype, device=device, seed=1)
    (dx,) = torch.autograd.grad(found, x, dy)
    (dx_expected,) = torch.autograd.grad(expected, x, dy)
    assert dx.dtype == x.dtype
    torch.testing.assert_close(dx, dx_expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_a_gradient_of_a_gradient(dim, device):
    def penalty(function, x):
        y = function(x * x) if dim is None else function(x * x, dim).values
        (dx,) = torch.autograd.grad((y**3).sum(), x, create_graph=True)
        return torch.autograd.grad((dx**2).sum(), x)[0]

    x = random(3, 4, device=device).requires_grad_()
    expected = penalty(torch.max, x.detach().double().requires_grad_())
    torch.testing.assert_close(penalty(max_, x).double(), expected, rtol=1e-4, atol=1e-4)


def test_indices_have_no_gradient_and_results_no_graph_where_none_is_wanted(device):
    x = random(3, 4, device=device).requires_grad_()
    assert not max_(x, 1).indices.requires_grad and max_(x, 1).values.requires_grad
    with torch.no_grad():
        assert not max_(x).requires_grad and not max_(x, 1).values.requires_grad


@pytest.mark.parametrize("wrong", [torch.int32, torch.int64, torch.bool, torch.float64, torch.complex64], ids=str)
def test_other_dtypes_are_refused(wrong, device):
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^x: expected dtype float32, float16 or bfloat16, got {name}$"):
        max_(torch.ones(3, dtype=wrong, device=device))


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"^x: expected a torch.Tensor, got list$"):
        max_([1.0, 2.0])


@pytest.mark.parametrize(("shape", "dim"), [((2, 3), 2), ((2, 3), -3), ((), 1)])
def test_a_dim_out_of_range_is_refused(shape, dim, device):
    with pytest.raises(ValueError, match=rf"^dim: expected a dimension from .* for shape .*, got {dim}$"):
        max_(torch.ones(shape, device=device), dim)


@pytest.mark.parametrize("dim", [1.0, "0", True, (0, 1)])
def test_a_dim_that_is_no_int_is_refused(dim, device):
    with pytest.raises(TypeError, match=rf"^dim: expected an int, got {type(dim).__name__}$"):
        max_(torch.ones(2, 3, device=device), dim)


@needs("cuda")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(2**24 + 1,), (8192, 4096), (262_144, 1001), (16, 1_000_003)], ids=str)
def test_on_the_gpu_at_full_size(shape, dtype, device):
    x = torch.randn(shape, device=device, dtype=dtype)
    for dim in (None, *range(len(shape))):
        expected = torch.max(x) if dim is None else torch.max(x, dim).values
        for _ in range(3):
            found = max_(x, dim)
            values = found if dim is None else found.values
            assert torch.equal(values, expected)
            if dim is not None:
                # PyTorch on a GPU need not return the first of equal elements; this must.
                first = (x == values.unsqueeze(dim)).to(torch.uint8).argmax(dim)
                assert torch.equal(x.gather(dim, found.indices.unsqueeze(dim)).squeeze(dim), values)
                assert (found.indices <= first).all()


@needs("cuda")
@pytest.mark.parametrize("dim", [None, 0, 1])
def test_more_than_two_to_the_31_elements(dim, device):
    need_free_memory(20)
    for shape in ((2**21 + 3, 1024), (1024, 2**21 + 3), (1, 2**31 + 5), (2**31 + 5, 1)):
        x = torch.zeros(shape, device=device, dtype=torch.bfloat16)
        x[0, -1], x[-1, 0], x[-1, -1] = 1, 2, 3
        found = max_(x, dim)
        if dim is None:
            assert found == 3
        else:
            assert found.values[-1] == 3 and found.indices[-1] == shape[dim] - 1
