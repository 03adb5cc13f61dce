"""kernels.cross_entropy against float64, on both routes: rows held whole, and rows walked along and back."""

import contextlib
import importlib
import math
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from kernels.cross_entropy import cross_entropy
from kernels.cross_entropy.cross_entropy import cross_entropy_reference
from kernels.cross_entropy.gradient import cross_entropy_gradient_kernel
from kernels.cross_entropy.launch import cross_entropy_grid, cross_entropy_launch, cross_entropy_plan
from kernels.cross_entropy.long import cross_entropy_long_kernel
from kernels.cross_entropy.total import cross_entropy_count, cross_entropy_finish
from tests.interpreter import only_touching
from tests.kernels.numerics import (
    DTYPES,
    FLOAT32_EPS,
    VIEWS,
    assert_guard_untouched,
    assert_within,
    atol_of,
    guarded,
    poisoned,
    random,
    relative_step,
    softmax_error,
)
from tests.needs import need_free_memory, needs

module = importlib.import_module("kernels.cross_entropy.cross_entropy")  # the package has a function of that name

REDUCTIONS = ("mean", "sum", "none")
NAN, INF = float("nan"), float("inf")
LONG_KERNELS = {False: cross_entropy_long_kernel, True: cross_entropy_gradient_kernel}


@pytest.fixture(params=["whole", "walks"])
def route(request, monkeypatch) -> Iterator[str]:
    """Rows held whole, or the kernels for long rows with small tiles, so that short rows take many steps."""
    if request.param == "walks":

        def small(n_columns: int, element_size: int, gradient: bool, few: bool) -> tuple:
            if n_columns < 16:
                return cross_entropy_plan(n_columns, element_size, gradient, few)
            vector = 16 // element_size
            meta = {"LANES": 128 // vector, "VECTOR": vector, "num_warps": 1}
            return LONG_KERNELS[gradient], 1, 2, meta

        monkeypatch.setattr("kernels.cross_entropy.launch.cross_entropy_plan", small)
    cross_entropy_grid.cache_clear()  # what was planned for the other route
    yield request.param
    cross_entropy_grid.cache_clear()


SHORT = [1, 2, 3, 31, 33, 100, 777, 1000, 1025, 4096]
LONG = [8193, 16_384, 50_257]
COLUMNS = [*SHORT, 8192, *LONG]


def targets(n_rows: int, n_columns: int, device: str, ignored: int = -100, seed: int = 0) -> torch.Tensor:
    """Random classes, the first and the last one among them; every third row is ignored from the second on."""
    target = torch.randint(0, n_columns, (n_rows,), generator=torch.Generator().manual_seed(seed))
    target[0], target[-1] = n_columns - 1, 0
    target[1::3] = ignored
    return target.to(device)


def rows_for(columns: int) -> int:
    """More rows than the interpreter's programs take in one turn of the loop over rows, where they are cheap."""
    return 16 * 4 + 5 if columns == 777 else 7 if columns <= 4096 else 3


def loss_64(logits, target, ignore_index=-100, reduction="mean"):
    return F.cross_entropy(logits.double(), target, ignore_index=ignore_index, reduction=reduction)


def loss_error(x: torch.Tensor, target: torch.Tensor, reduction: str, dtype: torch.dtype, ignore_index: int = -100):
    """What float32 arithmetic and one rounding to `dtype` may leave the loss of rows `x` off by."""
    x = x.double()
    counts = target != ignore_index
    peak = x.amax(1)
    below = (peak - x.gather(1, target.where(counts, 0)[:, None])[:, 0]).where(counts, 0.0)
    probability = torch.softmax(x, 1)
    mean_distance = torch.nansum((peak[:, None] - x).clamp(max=1e4) * probability, 1)
    loss = loss_64(x, target, ignore_index, "none")
    levels = math.log2(x.shape[1])
    # The sum of exponentials errs by so much relatively, hence its logarithm absolutely.
    each = FLOAT32_EPS * (8 + levels / 2 + 1.5 * mean_distance + below.abs() + 2 * (loss - below).abs() + loss.abs())
    each = each.where(counts, 0.0)
    if reduction == "none":
        return each + relative_step(dtype) * loss.abs() + atol_of(dtype)
    n = counts.sum() if reduction == "mean" else 1
    total = loss.sum().abs() / n
    in_sum = FLOAT32_EPS * (3 + math.log2(len(x))) * loss.abs().sum() / n
    return each.sum() / n + in_sum + relative_step(dtype) * total + atol_of(dtype)


def gradient_64(x, target, dloss, reduction, ignore_index=-100):
    x = x.detach().double().requires_grad_()
    loss = loss_64(x, target, ignore_index, reduction)
    return torch.autograd.grad(loss, x, dloss.double())[0]


def gradient_error(x, target, dloss, reduction, dtype, ignore_index=-100):
    """What each element of the gradient may be off by: a softmax in float32, scaled, rounded once."""
    counts = target != ignore_index
    scale = (dloss.double() / (counts.sum() if reduction == "mean" else 1)).expand(target.shape).where(counts, 0.0).abs()
    dx = gradient_64(x, target, dloss, reduction, ignore_index).abs()
    exact = softmax_error(x.detach(), 1, torch.float32) + 4 * FLOAT32_EPS * torch.softmax(x.detach().double(), 1)
    one = torch.zeros_like(dx).scatter_(1, target.where(counts, 0)[:, None], 4 * FLOAT32_EPS)
    return (exact + one) * scale[:, None] + relative_step(dtype) * dx + atol_of(dtype)


def assert_loss(x, target, reduction, ignore_index=-100):
    kept = x.detach().clone()
    loss = cross_entropy(x.detach(), target, ignore_index, reduction)
    assert (loss.dtype, loss.device) == (x.dtype, x.device) and not loss.requires_grad
    assert_within(
        loss,
        loss_64(x.detach(), target, ignore_index, reduction),
        loss_error(x.detach(), target, reduction, x.dtype, ignore_index),
    )
    assert torch.equal(x.detach(), kept), "the logits were overwritten"


def assert_gradient(x, target, dloss, reduction, ignore_index=-100, create_graph=False):
    kept = x.detach().clone()
    x = x.detach().requires_grad_()
    loss = cross_entropy(x, target, ignore_index, reduction)
    assert_within(
        loss.detach(),
        loss_64(x.detach(), target, ignore_index, reduction),
        loss_error(x.detach(), target, reduction, x.dtype, ignore_index),
    )
    (dx,) = torch.autograd.grad(loss, x, dloss, create_graph=create_graph)
    dx = dx.detach()
    assert (dx.shape, dx.dtype, dx.device) == (x.shape, x.dtype, x.device)
    assert_within(
        dx,
        gradient_64(x, target, dloss, reduction, ignore_index),
        gradient_error(x, target, dloss, reduction, x.dtype, ignore_index),
    )
    assert torch.equal(x.detach(), kept), "the logits were overwritten"


def incoming(target, reduction, dtype, factor=1.0):
    return (
        random(*target.shape, dtype=dtype, device=str(target.device), seed=5)
        if reduction == "none"
        else torch.tensor(factor, dtype=dtype, device=target.device)
    )


# Each length once, because every length, dtype and direction is a kernel to be compiled; three of them with every dtype.
CASES = [(DTYPES[place % 3], n) for place, n in enumerate(COLUMNS)]
CASES += [(dtype, n) for n in (33, 1000, 8193) for dtype in DTYPES if (dtype, n) not in CASES]


@pytest.mark.parametrize(("dtype", "columns"), CASES, ids=str)
def test_rows_of_any_length(dtype, columns, device):
    x = random(rows_for(columns), columns, dtype=dtype, device=device, scale=4)
    target = targets(len(x), columns, device)
    reduction = REDUCTIONS[columns % 3]
    assert_gradient(x, target, incoming(target, reduction, dtype), reduction)


@pytest.mark.parametrize("dtype", [torch.float16], ids=str)
@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [137])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_every_reduction(reduction, columns, dtype, device):
    x = random(5, columns, dtype=dtype, device=device, scale=3)
    target = targets(5, columns, device)
    assert_loss(x, target, reduction)
    assert_gradient(x, target, incoming(target, reduction, dtype), reduction)


def test_the_mean_of_every_row_is_what_comes_without_being_asked(device):
    x, target = random(6, 10, device=device), targets(6, 10, device)
    assert torch.equal(cross_entropy(x, target), cross_entropy(x, target, -100, "mean"))
    assert not torch.equal(cross_entropy(x, target), cross_entropy(x, target, reduction="sum"))


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [137])
@pytest.mark.parametrize("ignored", [0, -100, 10**6])
def test_ignored_rows_count_for_nothing(ignored, columns, device):
    x = random(5, columns, device=device)
    target = targets(5, columns, device, ignored)
    x[1, 3], x[4] = NAN, INF  # rows that are ignored
    if ignored == 0:
        x[-1, 5] = NAN
    for reduction in REDUCTIONS:
        leaf = x.clone().requires_grad_()
        loss = cross_entropy(leaf, target, ignored, reduction)
        clean = x.nan_to_num(0.0, 0.0)
        assert_within(
            loss.detach(), loss_64(clean, target, ignored, reduction), loss_error(clean, target, reduction, x.dtype, ignored)
        )
        (dx,) = torch.autograd.grad(loss.sum(), leaf)
        assert (dx[target == ignored] == 0).all()
        ones = torch.ones_like(loss)
        assert_within(
            dx,
            gradient_64(clean, target, ones, reduction, ignored),
            gradient_error(clean, target, ones, reduction, x.dtype, ignored),
        )


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [137])
def test_nothing_but_ignored_rows(columns, device):
    x = random(3, columns, device=device).requires_grad_()
    target = torch.full((3,), -100, device=device)
    for reduction, expected in (("mean", NAN), ("sum", 0.0), ("none", 0.0)):
        loss = cross_entropy(x, target, reduction=reduction)
        torch.testing.assert_close(loss.detach(), torch.full_like(loss, expected), rtol=0, atol=0, equal_nan=True)
        for factor in (1.0, 3.0):
            (dx,) = torch.autograd.grad(loss, x, torch.full_like(loss, factor), retain_graph=True)
            torch.testing.assert_close(dx, torch.autograd.grad(F.cross_entropy(x, target, reduction="sum"), x)[0])


@pytest.mark.parametrize("n_rows", [511, 512, 513, 16_500])
def test_many_rows_are_counted_and_summed(n_rows, device):
    """On both sides of the blocks in which targets are counted, and more than all programs count in one turn."""
    x, target = random(n_rows, 3, device=device), targets(n_rows, 3, device)
    assert_gradient(x, target, incoming(target, "mean", x.dtype), "mean")


@triton.jit
def parts_kernel(values_ptr, parts_ptr, arrived_ptr, loss_ptr, REDUCTION: tl.constexpr):
    pid = tl.program_id(0)
    cross_entropy_finish(tl.load(values_ptr + pid), pid % 3, parts_ptr, arrived_ptr, loss_ptr, REDUCTION)


@pytest.mark.parametrize("programs", [1, 511, 512, 1030])
def test_the_parts_of_any_number_of_programs_are_summed(programs, device):
    values = random(programs, device=device)
    counts = torch.arange(programs, device=device) % 3
    arrived = torch.zeros(2, dtype=torch.int32, device=device)
    for reduction in ("sum", "mean"):
        parts, loss = torch.full((2 * programs + 5,), NAN, device=device), torch.empty((), device=device)
        parts_kernel[(programs,)](values, parts, arrived, loss, reduction)
        expected = values.double().sum() / (counts.sum() if reduction == "mean" else 1)
        torch.testing.assert_close(loss.double(), expected, rtol=1e-5, atol=1e-5, equal_nan=True)
        assert torch.equal(parts[: 2 * programs], torch.cat((values, counts))) and parts[2 * programs :].isnan().all()
        assert not arrived.any()  # as the next launch must find it


def test_the_sum_does_not_depend_on_who_arrives_last(device):
    x, target = random(100, 200, device=device), targets(100, 200, device)
    first = cross_entropy(x, target)
    assert all(torch.equal(cross_entropy(x, target), first) for _ in range(2 if device == "cpu" else 50))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [16, 137, 250])
def test_kernel_touches_its_rows_and_nothing_else(columns, dtype, device):
    x = poisoned(random(5, columns, dtype=dtype, device=device) - 3, gap=2)
    target = targets(5, columns, device)
    dloss = poisoned(random(5, 1, dtype=dtype, device=device, seed=1) + 2)[:, 0]
    loss, loss_buffer = guarded((5,), dtype, device)
    dx, buffer = guarded((5, columns), dtype, device, gap=10)
    inside = only_touching([x, target, dloss], [loss, dx]) if device == "cpu" else contextlib.nullcontext()
    with inside:
        cross_entropy_launch(x, target, (-100, "none"), None, loss, dx, dloss)
    assert_within(loss, loss_64(x, target, reduction="none"), loss_error(x, target, "none", dtype))
    assert_within(dx, gradient_64(x, target, dloss, "none"), gradient_error(x, target, dloss, "none", dtype))
    assert_guard_untouched(dx, buffer)
    assert_guard_untouched(loss, loss_buffer)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [43])
def test_views(view, columns, device):
    base = random(4, columns, device=device)
    x = VIEWS[view](base)
    if x.ndim == 1:
        x = x.unfold(0, columns, 1)[:3]  # rows that overlap
    target = targets(len(x), x.shape[1], device)
    assert_loss(x, target, "none")
    assert_gradient(x, target, incoming(target, "mean", x.dtype), "mean")


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("gap", range(1, 9))
def test_rows_cut_out_of_wider_ones(gap, dtype, device):
    """Rows that begin at every place of a vector; their gradient's rows begin at the same one."""
    x = random(3, 200 + gap, dtype=dtype, device=device)[:, :200]
    target = targets(3, 200, device)
    assert_gradient(x, target, incoming(target, "mean", dtype), "mean")


def test_logits_that_negate_and_targets_that_are_not_contiguous(device):
    x = torch._neg_view(random(6, 50, device=device))
    target = torch.stack([targets(6, 50, device)] * 2, 1)[:, 0]
    assert x.is_neg() and not target.is_contiguous()
    assert_loss(x, target, "mean")
    assert_gradient(x, target, incoming(target, "mean", x.dtype), "mean")
    leaf = random(6, 50, device=device).requires_grad_()
    (found,) = torch.autograd.grad(
        cross_entropy(leaf, target, reduction="none"), leaf, torch._neg_view(torch.ones(6, device=device))
    )
    assert_within(found, gradient_64(leaf, target, -torch.ones(6, device=device), "none"), 1e-6)


@pytest.mark.parametrize("shape", [(7,), (2, 7, 3), (2, 7, 3, 4), (1, 7), (4, 1), (2, 8200, 1)], ids=str)
def test_classes_along_the_second_dimension_or_the_only_one(shape, device):
    x = random(*shape, device=device).requires_grad_()
    outer = shape[:1] + shape[2:] if len(shape) > 1 else ()
    target = torch.randint(0, shape[min(1, len(shape) - 1)], outer, generator=torch.Generator().manual_seed(0)).to(device)
    if len(shape) > 2:
        target[0, 0] = -100
    for reduction in REDUCTIONS:
        x64 = x.detach().double().requires_grad_()
        loss, expected = cross_entropy(x, target, reduction=reduction), F.cross_entropy(x64, target, reduction=reduction)
        torch.testing.assert_close(loss.double(), expected, rtol=1e-5, atol=1e-6)
        dloss = random(*loss.shape, device=device, seed=1)
        found = torch.autograd.grad(loss, x, dloss)[0]
        torch.testing.assert_close(found.double(), torch.autograd.grad(expected, x64, dloss.double())[0], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("shape", [(0, 5), (0, 5, 3), (2, 5, 0)], ids=str)
def test_no_rows(shape, device):
    x = torch.empty(shape, device=device, requires_grad=True)
    target = torch.empty(shape[:1] + shape[2:], dtype=torch.int64, device=device)
    for reduction in REDUCTIONS:
        loss, expected = cross_entropy(x, target, reduction=reduction), F.cross_entropy(x, target, reduction=reduction)
        torch.testing.assert_close(loss, expected, equal_nan=True)
        assert torch.autograd.grad(loss.sum(), x)[0].shape == x.shape


EVERY, BUT_LAST, BUT_FIRST = slice(None), slice(0, -1), slice(1, None)
SPECIAL = {
    "a NaN": [(1, NAN)],
    "a NaN at the end": [(-1, NAN)],
    "two infinities": [(2, INF), (5, INF)],
    "an infinity at the target": [(3, INF)],
    "infinities of both signs": [(0, -INF), (4, INF)],
    "minus infinity at the target": [(3, -INF)],
    "minus infinity at the start": [(0, -INF), (1, -INF)],
    "minus infinity at the end": [(-1, -INF)],
    "nothing but minus infinity": [(EVERY, -INF)],
    "minus infinity but for the last": [(BUT_LAST, -INF)],
    "minus infinity but for the first": [(BUT_FIRST, -INF)],
    "nothing but NaN": [(EVERY, NAN)],
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [137])
def test_nan_and_infinity_as_in_pytorch(columns, dtype, device):
    x = random(len(SPECIAL) + 1, columns, dtype=dtype, device=device)
    for row, values in enumerate(SPECIAL.values()):
        for at, value in values:
            x[row, at] = value
    x.requires_grad_()
    target = torch.full((len(x),), 3, device=device)
    x32 = x.detach().float().requires_grad_()
    loss, expected = cross_entropy(x, target, reduction="none"), F.cross_entropy(x32, target, reduction="none")
    ones = torch.ones_like(loss)
    (dx,), (dx32,) = torch.autograd.grad(loss, x, ones), torch.autograd.grad(expected, x32, ones.float())
    rtol = 4 * torch.finfo(dtype).eps
    for row, name in enumerate([*SPECIAL, "an ordinary row among them"]):
        torch.testing.assert_close(loss[row].float(), expected[row], rtol=rtol, atol=1e-6, equal_nan=True, msg=name)
        torch.testing.assert_close(dx[row].float(), dx32[row], rtol=rtol, atol=1e-7, equal_nan=True, msg=name)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [141])
def test_values_far_apart(columns, dtype, device):
    largest = torch.finfo(dtype).max
    x = random(8, columns, device=device)
    x[0] *= 1e4
    x[1] *= 1e-30
    x[2] += 1e4
    x[3] -= 1e4
    x[4] = torch.linspace(-80, 0, columns, device=device)
    x[5] = largest
    x[6] = -largest  # a row that is masked out whole
    x[7, : columns // 2] = -largest
    x = x.clamp(-largest, largest).to(dtype)
    target = targets(8, columns, device, ignored=columns - 1)
    assert_loss(x, target, "none")
    assert_gradient(x, target, incoming(target, "none", dtype), "none")


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [300])
def test_what_is_added_to_a_row_does_not_count(columns, device):
    # Adding 1024 to multiples of 1/64 is exact, so the expected result and its bound stay those of the smaller numbers.
    x = (random(4, columns, device=device) * 64).round() / 64
    target = targets(4, columns, device)
    for moved in (x + 1024, x - 1024):
        assert_within(cross_entropy(moved, target), loss_64(x, target), loss_error(x, target, "mean", x.dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [137])
def test_an_incoming_gradient_that_is_not_one(columns, reduction, dtype, device):
    x, target = random(7, columns, dtype=dtype, device=device, scale=3), targets(7, columns, device)
    for factor in (0.0, -0.125):
        assert_gradient(x, target, torch.tensor(factor, dtype=dtype, device=device), reduction)


def test_a_scaled_loss_keeps_small_gradients(device):
    """What float16 is trained with: the loss times 2^15, because the gradients would round to zero without it."""
    x = random(12, 1000, dtype=torch.float16, device=device)
    target = targets(12, 1000, device)
    assert_gradient(x, target, torch.tensor(2.0**15, dtype=torch.float16, device=device), "mean")


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [137])
@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_a_gradient_asked_for_twice_is_the_same_twice(factor, columns, device):
    x, target = random(5, columns, device=device).requires_grad_(), targets(5, columns, device)
    loss = cross_entropy(x, target)
    dloss = torch.tensor(factor, device=device)
    (first,) = torch.autograd.grad(loss, x, dloss, retain_graph=True)
    kept = first.clone()
    first.zero_()
    (second,) = torch.autograd.grad(loss, x, dloss, retain_graph=True)
    assert torch.equal(second, kept) and second.data_ptr() != first.data_ptr()
    (third,) = torch.autograd.grad(loss, x, 2 * dloss)
    torch.testing.assert_close(third, 2 * kept)


def test_logits_that_were_changed_in_place_are_noticed(device):
    x, target = random(5, 20, device=device).requires_grad_(), targets(5, 20, device)
    y = x * 1
    loss = cross_entropy(y, target)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_has_no_graph_where_no_gradient_is_wanted(device):
    x, target = random(5, 20, device=device), targets(5, 20, device)
    assert not cross_entropy(x, target).requires_grad
    with torch.no_grad():
        assert not cross_entropy(x.requires_grad_(), target).requires_grad


@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [137])
def test_no_gradient_is_written_unless_it_will_be_wanted(columns, gradient, device, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "cross_entropy_room", lambda logits: asked.append(1) or torch.empty_like(logits))
    x, target = random(5, columns, device=device).requires_grad_(gradient), targets(5, columns, device)
    cross_entropy(x, target)
    cross_entropy(x, target, reduction="none")
    assert len(asked) == gradient


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_gradient_that_may_be_differentiated_again_is_as_exact(reduction, dtype, device):
    x, target = random(5, 300, dtype=dtype, device=device, scale=2), targets(5, 300, device)
    assert_gradient(x, target, incoming(target, reduction, dtype, 3.0), reduction, create_graph=True)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_second_derivative(reduction, device):
    target = targets(5, 6, device)

    def penalty(function, x):
        loss = function(x, target, reduction=reduction)
        (dx,) = torch.autograd.grad((loss**2).sum(), x, create_graph=True)
        return torch.autograd.grad((dx**2).sum() + (x**2).sum(), x)[0]

    x = random(5, 6, device=device).requires_grad_()
    expected = penalty(F.cross_entropy, x.detach().double().requires_grad_())
    torch.testing.assert_close(penalty(cross_entropy, x).double(), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [250])
def test_errs_no_more_than_pytorch(columns, dtype, device):
    x, target = random(12, columns, dtype=dtype, device=device, scale=3), targets(12, columns, device)

    def error(function) -> tuple[float, float]:
        leaf = x.clone().requires_grad_()
        loss = function(leaf, target, reduction="none")
        (dx,) = torch.autograd.grad(loss.sum(), leaf)
        exact, exact_dx = loss_64(x, target, reduction="none"), gradient_64(x, target, torch.ones_like(loss), "none")
        return (loss.double() - exact).norm().item(), (dx.double() - exact_dx).norm().item()

    ours, theirs = error(cross_entropy), error(F.cross_entropy)
    # In float32 both err in the last bits, and a GPU's exponential of base two by one more.
    slack = 2 if dtype == torch.float32 else 1.2
    assert ours[0] <= slack * theirs[0] and ours[1] <= slack * theirs[1]


def test_the_reference_agrees_with_pytorch(device):
    x, target = random(9, 100, device=device), targets(9, 100, device)
    for reduction in REDUCTIONS:
        found, expected = cross_entropy_reference(x, target, -100, reduction), F.cross_entropy(x, target, reduction=reduction)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("columns", [137])
def test_a_target_out_of_range_gives_nan_in_its_row_alone(columns, device):
    """The kernels are given what the public function would refuse on a CPU, and cannot see in time on a GPU."""
    x = random(5, columns, device=device)
    for wrong in (columns, columns + 1, 2**40, -1, -(2**40)):
        target = torch.tensor([1, wrong, -100, columns - 1, 0], device=device)
        loss, dx = torch.empty(5, device=device), torch.empty_like(x)
        cross_entropy_launch(x, target, (-100, "none"), None, loss, dx)
        assert loss.isnan().tolist() == [False, True, False, False, False]
        assert dx.isnan().all(1).tolist() == dx.isnan().any(1).tolist() == [False, True, False, False, False]
        total = torch.empty((), device=device)
        cross_entropy_launch(x, target, (-100, "mean"), cross_entropy_count(target, -100), total, dx)
        assert total.isnan() and dx.isnan().any(1).tolist() == [False, True, False, False, False]


@pytest.mark.parametrize("wrong", [10, -1])
def test_a_target_out_of_range_is_refused_where_the_host_knows_and_nan_elsewhere(wrong, device):
    x = random(3, 10, device=device).requires_grad_()
    target = torch.tensor([0, wrong, -100], device=device)
    if device == "cpu":
        with pytest.raises(ValueError, match=rf"^target: expected classes from 0 to 9, or ignore_index -100, got {wrong}$"):
            cross_entropy(x, target)
    else:
        loss = cross_entropy(x, target, reduction="none")
        assert loss.isnan().tolist() == [False, True, False]
        loss.sum().backward()
        assert x.grad.isnan().any(1).tolist() == [False, True, False]
    assert cross_entropy(x, torch.tensor([0, 9, wrong], device=device), ignore_index=wrong).isfinite()


@pytest.mark.parametrize("wrong", [torch.int32, torch.int64, torch.bool, torch.float64], ids=str)
def test_logits_of_other_dtypes_are_refused(wrong, device):
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^logits: expected dtype float32, float16 or bfloat16, got {name}$"):
        cross_entropy(torch.ones(2, 3, dtype=wrong, device=device), torch.zeros(2, dtype=torch.int64, device=device))


@pytest.mark.parametrize("wrong", [torch.int32, torch.uint8, torch.bool, torch.float32], ids=str)
def test_targets_of_other_dtypes_are_refused(wrong, device):
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^target: expected dtype int64, the index of a class, got {name}$"):
        cross_entropy(torch.ones(2, 3, device=device), torch.zeros(2, dtype=wrong, device=device))


def test_what_is_no_tensor_is_refused(device):
    x, target = torch.ones(2, 3, device=device), torch.zeros(2, dtype=torch.int64, device=device)
    with pytest.raises(TypeError, match=r"^logits: expected a torch.Tensor, got list$"):
        cross_entropy([[1.0]], target)
    with pytest.raises(TypeError, match=r"^target: expected a torch.Tensor, got list$"):
        cross_entropy(x, [0, 1])
    for wrong in (1.0, None, True):
        with pytest.raises(TypeError, match=rf"^ignore_index: expected an int, got {type(wrong).__name__}$"):
            cross_entropy(x, target, wrong)
    with pytest.raises(ValueError, match=r"^target: expected device .*, the device of logits, got meta$"):
        cross_entropy(x, target.to("meta"))


@pytest.mark.parametrize("wrong", ["average", None, 1])
def test_another_reduction_is_refused(wrong, device):
    with pytest.raises(ValueError, match=rf"^reduction: expected 'mean', 'sum' or 'none', got {wrong!r}$"):
        cross_entropy(torch.ones(2, 3, device=device), torch.zeros(2, dtype=torch.int64, device=device), reduction=wrong)


@pytest.mark.parametrize(
    ("logits", "target"), [((2, 3), (3,)), ((2, 3), (2, 1)), ((3,), (1,)), ((2, 3, 4), (2, 3)), ((2, 3), ())]
)
def test_shapes_that_do_not_match_are_refused(logits, target, device):
    with pytest.raises(ValueError, match=r"^target: expected shape \(.*\) for logits of \(.*\), got \(.*\)$"):
        cross_entropy(torch.ones(logits, device=device), torch.zeros(target, dtype=torch.int64, device=device))


@pytest.mark.parametrize(("logits", "target"), [((), ()), ((0,), ()), ((2, 0), (2,)), ((2, 0, 3), (2, 3))])
def test_logits_without_classes_are_refused(logits, target, device):
    with pytest.raises(ValueError, match=r"^logits: expected shape \[N, C\], .* at least one class, got \(.*\)$"):
        cross_entropy(torch.ones(logits, device=device), torch.zeros(target, dtype=torch.int64, device=device))


WIDE = [8, 511, 2048, 8192, 32_000, 50_257, 65_537, 128_256, 262_143, 262_144]


@needs("cuda")
@pytest.mark.parametrize(("dtype", "columns"), [(DTYPES[(place + 2) % 3], n) for place, n in enumerate(WIDE)], ids=str)
def test_on_the_gpu_at_full_width(dtype, columns, device):
    x, target = random(300, columns, dtype=dtype, device=device, scale=4), targets(300, columns, device)
    assert_gradient(x, target, incoming(target, "mean", dtype), "mean")
    assert_loss(x, target, "mean")


@needs("cuda")
@pytest.mark.parametrize("columns", [256, 8192, 65_536])
def test_more_than_two_to_the_31_elements(columns, device):
    need_free_memory(30)
    rows, dtype = 2**31 // columns + 5, torch.bfloat16
    x = torch.randint(-8, 8, (rows, columns), device=device, dtype=dtype)
    target = torch.arange(rows, device=device) % columns
    loss, dx = torch.full((rows,), NAN, device=device), torch.full_like(x, NAN)
    dloss = torch.ones(rows, device=device)
    cross_entropy_launch(x, target, (-100, "none"), None, loss, dx, dloss)
    assert not loss.isnan().any() and not any(part.isnan().any() for part in dx.split(2**28 // columns))
    for part in (slice(0, 3), slice(rows // 2, rows // 2 + 3), slice(-3, None)):
        assert_within(
            loss[part], loss_64(x[part], target[part], reduction="none"), loss_error(x[part], target[part], "none", torch.float32)
        )
        ones = torch.ones(3, device=device)
        assert_within(
            dx[part], gradient_64(x[part], target[part], ones, "none"), gradient_error(x[part], target[part], ones, "none", dtype)
        )
