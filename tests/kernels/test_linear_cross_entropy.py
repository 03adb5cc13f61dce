"""kernels.linear_cross_entropy against float64: chunks of every size, and gradients that are found before they are asked for."""

import importlib
from math import nan

import pytest
import torch
import torch.nn.functional as F

from kernels.linear_cross_entropy import linear_cross_entropy
from kernels.linear_cross_entropy.chunks import (
    linear_cross_entropy_chunk,
    linear_cross_entropy_launch,
    linear_cross_entropy_scale,
)
from kernels.linear_cross_entropy.linear_cross_entropy import linear_cross_entropy_reference
from tests.kernels.numerics import DTYPES, assert_guard_untouched, guarded, poisoned, random
from tests.needs import need_free_memory, needs

module = importlib.import_module("kernels.linear_cross_entropy.chunks")
REDUCTIONS = ("mean", "sum", "none")


def inputs(n_rows, hidden, n_classes, device, dtype=torch.float32, bias=True):
    """x, weight, target and bias; every third row is ignored from the second on."""
    x = random(n_rows, hidden, dtype=dtype, device=device, seed=1).requires_grad_()
    weight = random(n_classes, hidden, dtype=dtype, device=device, seed=2, scale=2 * hidden**-0.5).requires_grad_()
    target = torch.randint(0, n_classes, (n_rows,), generator=torch.Generator().manual_seed(3))
    target[0], target[-1] = n_classes - 1, 0
    target[1::3] = -100
    return x, weight, target.to(device), random(n_classes, dtype=dtype, device=device, seed=4).requires_grad_() if bias else None


def leaves(x, weight, bias):
    return [tensor for tensor in (x, weight, bias) if tensor is not None]


def in_float64(x, weight, target, bias, dloss=None, **options):
    """The loss in float64, and the gradients if there is an incoming one."""
    options.pop("chunk_rows", None)
    copies = [None if tensor is None else tensor.detach().double().requires_grad_() for tensor in (x, weight, bias)]
    logits = F.linear(*copies)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1), **options)
    loss = loss.view(target.shape) if loss.ndim else loss
    return loss if dloss is None else (loss, *torch.autograd.grad(loss, leaves(*copies), dloss.double()))


def assert_as_float64(given, dloss=None, **options):
    """Loss and gradients in float32, with a bound of a few of its steps on what sums of products may leave."""
    x, weight, target, bias = given
    loss = linear_cross_entropy(x, weight, target, bias, **options)
    dloss = torch.ones_like(loss) if dloss is None else dloss
    found = (loss, *torch.autograd.grad(loss, leaves(x, weight, bias), dloss))
    for one, exact in zip(found, in_float64(*given, dloss, **options), strict=True):
        assert one.dtype == x.dtype and one.shape == exact.shape
        scale = exact.abs().max().item() if exact.numel() else 0
        torch.testing.assert_close(one.double(), exact, rtol=2e-5, atol=4e-6 * scale + 1e-30)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 3, 2), (2, 8, 16), (7, 5, 17), (13, 16, 33), (6, 33, 4100)], ids=str)
def test_loss_and_gradients(sizes, bias, reduction, device):
    given = inputs(*sizes, device, bias=bias)
    assert_as_float64(given, reduction=reduction, chunk_rows=4)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_row_longer_than_several_blocks(reduction, device):
    assert_as_float64(inputs(4, 6, 2 * 4096 + 5, device), reduction=reduction, chunk_rows=3)


@pytest.mark.parametrize("chunk_rows", [None, 1, 2, 7, 8, 100])
def test_every_size_of_chunk_gives_the_same(chunk_rows, device):
    assert_as_float64(inputs(8, 5, 19, device), chunk_rows=chunk_rows)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("smoothing", [0.1, 1, 1.0, 0.999])
def test_label_smoothing(smoothing, reduction, device):
    assert_as_float64(inputs(7, 5, 19, device), label_smoothing=smoothing, reduction=reduction, chunk_rows=3)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("factor", [0.0, -0.125, 3.0])
def test_an_incoming_gradient_that_is_not_one(factor, reduction, device):
    given = inputs(7, 5, 19, device)
    dloss = torch.tensor(factor, device=device)
    if reduction == "none":
        dloss = dloss * torch.arange(14, device=device)[::2]  # with gaps between them
    assert_as_float64(given, dloss, reduction=reduction, chunk_rows=3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_errs_no_more_than_pytorch(reduction, dtype, device):
    """Also where the weight's gradient is added up over many chunks, in its own dtype."""
    x, weight, target, bias = inputs(64, 32, 200, device, dtype)
    options = {"reduction": reduction}
    ones = torch.ones((), device=device)
    exact = in_float64(x, weight, target, bias, ones, **options)

    def errors(loss) -> list[float]:
        found = (loss, *torch.autograd.grad(loss, (x, weight, bias)))
        return [((one.double() - other).norm() / other.norm()).item() for one, other in zip(found, exact, strict=True)]

    ours = errors(linear_cross_entropy(x, weight, target, bias, **options, chunk_rows=8))
    theirs = errors(linear_cross_entropy_reference(x, weight, target, bias, **options))
    eps = torch.finfo(dtype).eps
    assert all(mine <= 2 * other + eps / 2 for mine, other in zip(ours, theirs, strict=True)), (ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_scaled_loss_keeps_small_gradients(dtype, device):
    """What float16 is trained with: the loss times 2^13, because the gradients would round to zero without it."""
    x, weight, target, _ = inputs(96, 16, 50, device, dtype, bias=False)
    x = (x.detach() / 64).requires_grad_()
    dloss = torch.tensor(2.0**13, dtype=dtype, device=device)
    grads = torch.autograd.grad(linear_cross_entropy(x, weight, target, chunk_rows=20), (x, weight), dloss)
    for one, exact in zip(grads, in_float64(x, weight, target, None, dloss)[1:], strict=True):
        assert ((one.double() - exact).norm() / exact.norm()).item() < 8 * torch.finfo(dtype).eps


@pytest.mark.parametrize("factor", [1.0, 2.0])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_gradient_asked_for_twice_is_the_same_twice(factor, reduction, device):
    x, weight, target, bias = inputs(7, 5, 19, device)
    loss = linear_cross_entropy(x, weight, target, bias, reduction=reduction, chunk_rows=3)
    dloss = torch.full_like(loss, factor)
    first = torch.autograd.grad(loss, (x, weight, bias), dloss, retain_graph=True)
    kept = [gradient.clone() for gradient in first]
    for gradient in first:
        gradient.zero_()
    second = torch.autograd.grad(loss, (x, weight, bias), dloss)
    for one, other in zip(second, kept, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_gradients_of_gradients_are_refused(device):
    x, weight, target, _ = inputs(7, 5, 19, device)
    loss = linear_cross_entropy(x, weight, target)
    with pytest.raises(NotImplementedError, match="^linear_cross_entropy: expected to be differentiated once, got"):
        torch.autograd.grad(loss, x, create_graph=True)


@pytest.mark.parametrize("which", range(3))
def test_only_the_gradients_that_are_wanted_are_found(which, device):
    x, weight, target, bias = inputs(7, 5, 19, device)
    wanted = (x, weight, bias)[which]
    for tensor in (x, weight, bias):
        tensor.requires_grad_(tensor is wanted)
    loss = linear_cross_entropy(x, weight, target, bias, chunk_rows=3)
    gradients = loss.grad_fn.gradients
    assert [gradient is not None for gradient in gradients] == [place == which for place in range(3)]
    (found,) = torch.autograd.grad(loss, wanted)
    copies = [tensor.detach().double().requires_grad_() for tensor in (x, weight, bias)]
    exact = torch.autograd.grad(F.cross_entropy(F.linear(*copies), target), copies)[which]
    torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-6)


def test_no_gradient_is_found_where_none_is_wanted(device, monkeypatch):
    asked = []
    launch = module.linear_cross_entropy_launch
    monkeypatch.setattr(module, "linear_cross_entropy_launch", lambda *given: asked.append(given[-1]) or launch(*given))
    x, weight, target, bias = inputs(7, 5, 19, device)
    with torch.no_grad():
        loss = linear_cross_entropy(x, weight, target, bias, chunk_rows=4)
    assert not loss.requires_grad and asked == [False, False]
    linear_cross_entropy(x, weight, target, bias, reduction="none", chunk_rows=4)
    assert asked == [False] * 4, "with a loss of each row, the backward pass finds them"
    linear_cross_entropy(x, weight, target, bias, chunk_rows=4)
    assert asked[4:] == [True, True]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_under_autocast_as_a_linear_layer(dtype, device):
    x, weight, target, bias = inputs(9, 8, 19, device)
    with torch.autocast(device, dtype=dtype):
        loss = linear_cross_entropy(x, weight, target, bias, chunk_rows=4)
        expected = F.cross_entropy(F.linear(x, weight, bias), target)
    assert loss.dtype == expected.dtype == torch.float32
    found, wanted = (torch.autograd.grad(one * 512, (x, weight, bias)) for one in (loss, expected))
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == torch.float32
        assert ((one - other).norm() / other.norm()).item() < 4 * torch.finfo(dtype).eps


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_more_dimensions_than_two(reduction, device):
    x = random(2, 3, 4, 5, device=device).requires_grad_()
    _, weight, target, bias = inputs(24, 5, 19, device)
    assert_as_float64((x, weight, target.view(2, 3, 4), bias), reduction=reduction, chunk_rows=7)


def test_views_and_what_lies_between(device):
    given = inputs(6, 5, 19, device)
    exact = in_float64(*given)
    x, weight, target, bias = (tensor.detach() for tensor in given)
    for other in (poisoned(x), x.mT.contiguous().mT):
        for matrix in (poisoned(weight), weight.mT.contiguous().mT):
            loss = linear_cross_entropy(other, matrix, torch.stack((target, target), 1)[:, 0], poisoned(bias[None])[0])
            torch.testing.assert_close(loss.double(), exact, rtol=1e-5, atol=1e-6)


def test_inputs_are_left_as_they_are(device):
    given = inputs(6, 5, 19, device)
    kept = [tensor.detach().clone() for tensor in given]
    linear_cross_entropy(*given, chunk_rows=4).backward()
    assert all(torch.equal(one, other) for one, other in zip(given, kept, strict=True))


@pytest.mark.parametrize("shape", [(0, 5), (2, 0, 5)], ids=str)
def test_no_rows(shape, device):
    x = torch.empty(shape, device=device, requires_grad=True)
    weight = random(7, 5, device=device)
    target = torch.empty(shape[:-1], dtype=torch.int64, device=device)
    for reduction in REDUCTIONS:
        loss = linear_cross_entropy(x, weight, target, reduction=reduction)
        expected = F.cross_entropy(F.linear(x, weight).view(-1, 7), target.view(-1), reduction=reduction)
        torch.testing.assert_close(loss.view(expected.shape), expected, equal_nan=True)
        assert torch.autograd.grad(loss.sum(), x)[0].shape == x.shape


def test_rows_without_numbers(device):
    x, weight = torch.empty(3, 0, device=device), torch.empty(7, 0, device=device)
    target = torch.tensor([0, 6, -100], device=device)
    expected = F.cross_entropy(torch.zeros(3, 7, device=device), target)
    torch.testing.assert_close(linear_cross_entropy(x, weight, target), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_nothing_but_ignored_rows(dtype, device):
    x, weight, target, bias = inputs(4, 5, 19, device, dtype)
    target = torch.full_like(target, -100)
    loss = linear_cross_entropy(x, weight, target, bias)
    assert loss.isnan()
    for gradient in torch.autograd.grad(loss, (x, weight, bias)):
        assert not gradient.any()
    assert linear_cross_entropy(x, weight, target, reduction="sum") == 0


def launched(logits, target, dloss=None, count=None, smoothing=0.0, gradient=True):
    """The kernel alone, on rows with room to a multiple of sixteen, full of NaN past their last class."""
    n_rows, n_classes = logits.shape
    view, buffer = guarded((n_rows, -(-n_classes // 16) * 16), logits.dtype, str(logits.device), gap=0)
    rows = view[:, :n_classes]
    rows.copy_(logits)
    loss = torch.full((n_rows,), nan, device=logits.device)
    linear_cross_entropy_launch(rows, target, dloss, count, loss, -100, smoothing, gradient)
    return loss, rows, view, buffer


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n_classes", [1, 15, 16, 17, 137, 4096, 4097])
def test_the_kernel_writes_its_rows_and_nothing_else(n_classes, dtype, device):
    logits = random(5, n_classes, dtype=dtype, device=device, scale=4)
    target = torch.tensor([0, n_classes - 1, -100, n_classes // 2, 0], device=device)
    leaf = logits.double().requires_grad_()
    exact = F.cross_entropy(leaf, target, reduction="none")
    (gradient,) = torch.autograd.grad(exact.sum(), leaf)
    loss, rows, view, buffer = launched(logits, target)
    torch.testing.assert_close(loss.double(), exact.detach(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(rows.double(), gradient, rtol=torch.finfo(dtype).eps, atol=1e-6)
    assert_guard_untouched(view, buffer)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_loss_alone_leaves_the_logits(dtype, device):
    logits, target = random(5, 37, dtype=dtype, device=device), torch.tensor([0, 36, -100, 3, 9], device=device)
    loss, rows, *_ = launched(logits, target, gradient=False)
    assert torch.equal(rows, logits)
    torch.testing.assert_close(loss, F.cross_entropy(logits.float(), target, reduction="none"), rtol=1e-5, atol=1e-6)


def test_scales_of_rows_and_a_count(device):
    logits, target = random(5, 37, device=device), torch.tensor([0, 36, -100, 3, 9], device=device)
    dloss = torch.tensor([1.0, -2.0, 7.0, 0.0, 0.5], device=device)
    leaf = logits.double().requires_grad_()
    (exact,) = torch.autograd.grad(F.cross_entropy(leaf, target, reduction="none", label_smoothing=0.2), leaf, dloss.double() / 4)
    rows = launched(logits, target, dloss, torch.tensor(4, device=device), 0.2)[1]
    torch.testing.assert_close(rows.double(), exact, rtol=1e-5, atol=1e-7)


INF = float("inf")
SPECIAL = {
    "a NaN": [(1, nan)],
    "an infinity at the target": [(3, INF)],
    "infinities of both signs": [(0, -INF), (4, INF)],
    "minus infinity at the target": [(3, -INF)],
    "minus infinity in all of the first block": [(slice(0, 4096), -INF)],
    "nothing but minus infinity": [(slice(None), -INF)],
    "a row that is masked out whole": [(slice(None), -3e38)],
}


def test_nan_and_infinity_as_in_pytorch(device):
    x = random(len(SPECIAL) + 1, 4100, device=device)
    for row, values in enumerate(SPECIAL.values()):
        for at, value in values:
            x[row, at] = value
    target = torch.full((len(x),), 3, device=device)
    leaf = x.clone().requires_grad_()
    expected = F.cross_entropy(leaf, target, reduction="none")
    (dx,) = torch.autograd.grad(expected, leaf, torch.ones_like(expected))
    loss, rows, *_ = launched(x, target)
    for row, name in enumerate([*SPECIAL, "an ordinary row among them"]):
        torch.testing.assert_close(loss[row], expected[row], rtol=1e-6, atol=1e-5, equal_nan=True, msg=name)
        torch.testing.assert_close(rows[row], dx[row], rtol=1e-5, atol=1e-7, equal_nan=True, msg=name)


@pytest.mark.parametrize("wrong", [10, 16, 2**40, -1])
def test_a_target_out_of_range_gives_nan_in_its_row_alone(wrong, device):
    logits, target = random(3, 10, device=device), torch.tensor([1, wrong, -100], device=device)
    loss, rows, *_ = launched(logits, target)
    assert loss.isnan().tolist() == [False, True, False]
    assert rows.isnan().all(1).tolist() == rows.isnan().any(1).tolist() == [False, True, False]


@pytest.mark.parametrize("wrong", [10, -1])
def test_a_target_out_of_range_is_refused_where_the_host_knows(wrong, device):
    x, weight, target, _ = inputs(3, 4, 10, device)
    target[0] = wrong
    if device == "cpu":
        with pytest.raises(ValueError, match=rf"^target: expected classes from 0 to 9, or ignore_index -100, got {wrong}$"):
            linear_cross_entropy(x, weight, target)
    else:
        assert linear_cross_entropy(x, weight, target).isnan()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n_elements", [1, 4096, 4097, 50_000])
def test_the_scale_of_a_gradient(n_elements, dtype, device):
    view, buffer = guarded((n_elements,), dtype, device)
    gradient = random(n_elements, dtype=dtype, device=device)
    for dloss, count, factor in ((1.0, None, 1.0), (-2.5, None, -2.5), (3.0, 2, 1.5), (3.0, 0, 3.0), (2.0, 2, 1.0)):
        view.copy_(gradient)
        given = [None if number is None else torch.tensor(number, device=device) for number in (dloss, count)]
        linear_cross_entropy_scale(view, *given)
        assert torch.equal(view, (gradient.float() * factor).to(dtype))
        assert_guard_untouched(view, buffer)


def test_the_rows_of_a_chunk():
    assert linear_cross_entropy_chunk(4096) == 512
    assert linear_cross_entropy_chunk(8192) == 1024
    assert linear_cross_entropy_chunk(768) == 512, "fewer rows would cost more time than memory"
    for hidden in (1, 5000, 5120, 16_384, 10**6):
        rows = linear_cross_entropy_chunk(hidden)
        assert rows % 128 == 0 and (rows == 512 or 8 * rows <= hidden)


def test_at_most_a_fifth_of_the_memory():
    """By counting: at 8192 tokens and 128,256 classes of a hidden size of 4096, in sixteen bits."""
    rows, hidden, classes = 8192, 4096, 128_256
    chunk = linear_cross_entropy_chunk(hidden) * classes
    unfused = 3 * rows * classes  # logarithms of probabilities, and two gradients of their size
    assert 5 * (chunk + classes * hidden + rows * hidden) <= unfused


def test_other_dtypes_are_refused(device):
    x, weight, target, bias = inputs(3, 4, 10, device)
    with pytest.raises(TypeError, match=r"^x: expected dtype float32, float16 or bfloat16, got float64$"):
        linear_cross_entropy(x.double(), weight, target)
    with pytest.raises(TypeError, match=r"^weight: expected dtype float32, the dtype of x, got bfloat16$"):
        linear_cross_entropy(x, weight.bfloat16(), target)
    with pytest.raises(TypeError, match=r"^bias: expected dtype float32, the dtype of x, got float16$"):
        linear_cross_entropy(x, weight, target, bias.half())
    with pytest.raises(TypeError, match=r"^target: expected dtype int64, the index of a class, got int32$"):
        linear_cross_entropy(x, weight, target.int())
    for place, name in enumerate(("x", "weight", "target", "bias")):
        given: list = [x, weight, target, bias]
        given[place] = [1.0]
        with pytest.raises(TypeError, match=rf"^{name}: expected a torch.Tensor, got list$"):
            linear_cross_entropy(*given)


def test_other_shapes_are_refused(device):
    x, weight, target, bias = inputs(3, 4, 10, device)
    with pytest.raises(ValueError, match=r"^x: expected shape \[..., H\], got \(\)$"):
        linear_cross_entropy(x[0, 0], weight, target)
    for wrong in (weight[:, 1:], weight[0], weight[None]):
        with pytest.raises(ValueError, match=r"^weight: expected shape \[C, 4\] for x of \(3, 4\), got \(.*\)$"):
            linear_cross_entropy(x, wrong, target)
    with pytest.raises(ValueError, match=r"^weight: expected at least one class, got shape \(0, 4\)$"):
        linear_cross_entropy(x, weight[:0], target)
    with pytest.raises(ValueError, match=r"^bias: expected shape \(10,\), the classes of weight, got \(9,\)$"):
        linear_cross_entropy(x, weight, target, bias[1:])
    for wrong in (target[1:], target[:, None]):
        with pytest.raises(ValueError, match=r"^target: expected shape \(3,\) for x of \(3, 4\), got \(.*\)$"):
            linear_cross_entropy(x, weight, wrong)
    with pytest.raises(ValueError, match=r"^weight: expected (device .*, the device of x|a CUDA tensor), got (one on )?meta"):
        linear_cross_entropy(x, weight.to("meta"), target)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"reduction": "average"}, ValueError, "reduction: expected 'mean', 'sum' or 'none', got 'average'"),
        ({"ignore_index": 1.0}, TypeError, "ignore_index: expected an int, got float"),
        ({"label_smoothing": "0"}, TypeError, "label_smoothing: expected a float, got str"),
        ({"label_smoothing": 1.5}, ValueError, "label_smoothing: expected a number from 0 to 1, got 1.5"),
        ({"chunk_rows": 0}, ValueError, "chunk_rows: expected at least 1, got 0"),
        ({"chunk_rows": 2.0}, TypeError, "chunk_rows: expected an int or None, got float"),
    ],
)
def test_other_options_are_refused(options, error, message, device):
    with pytest.raises(error, match=f"^{message}$"):
        linear_cross_entropy(*inputs(3, 4, 10, device), **options)


def test_the_reference_agrees_with_float64(device):
    given = inputs(9, 8, 19, device)
    for reduction in REDUCTIONS:
        found = linear_cross_entropy_reference(*given, reduction=reduction, label_smoothing=0.1)
        exact = in_float64(*given, reduction=reduction, label_smoothing=0.1)
        torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-6)


@needs("cuda")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("n_classes", [50_257, 128_256])
def test_on_the_gpu_at_full_width(n_classes, dtype, device):
    need_free_memory(20)
    x, weight, target, _ = inputs(2000, 1024, n_classes, device, dtype, bias=False)
    loss = linear_cross_entropy(x, weight, target)
    # In float32: in float16 the gradients of PyTorch's logits are too small for the dtype.
    wide = [tensor.detach().float().requires_grad_() for tensor in (x, weight)]
    expected = F.cross_entropy(F.linear(*wide), target)
    assert abs((loss.double() - expected.double()).item()) <= 4 * torch.finfo(dtype).eps * expected.item()
    for one, other in zip(torch.autograd.grad(loss, (x, weight)), torch.autograd.grad(expected, wide), strict=True):
        assert ((one.float() - other).norm() / other.norm()).item() < 8 * torch.finfo(dtype).eps


@needs("cuda")
def test_more_than_two_to_the_31_logits(device):
    """In one chunk: addresses past 2^31, which no smaller one reaches."""
    need_free_memory(20)
    x, weight, target, _ = inputs(70_000, 16, 32_768, device, torch.bfloat16, bias=False)
    with torch.no_grad():
        whole, parts = (linear_cross_entropy(x, weight, target, reduction="none", chunk_rows=rows) for rows in (70_000, 512))
    assert torch.equal(whole, parts)
