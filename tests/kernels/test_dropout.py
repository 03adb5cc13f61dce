"""kernels.dropout against its plain PyTorch twin, bit for bit, and its mask against what chance allows."""

import contextlib
import math

import pytest
import torch
import triton
import triton.language as tl

from kernels import dropout
from kernels.common.partial_tiles import load_partial_tile
from kernels.dropout.dropout import dropout_flat, dropout_reference
from kernels.dropout.philox import philox_bits, philox_reference
from tests.interpreter import only_touching
from tests.kernels.numerics import DTYPES, VIEWS, assert_guard_untouched, guarded, poisoned, random
from tests.needs import need_free_memory, needs

NAN, INF = float("nan"), float("inf")
SEEDS = [0, 1, 12_345, 2**31, 2**32 + 7, 2**63 - 1, 2**63 + 99, 2**64 - 1]
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 100, 1023, 1024, 1025, 2048, 3000]


def kept_by(seed: int, p: float, shape: tuple[int, ...], device: str) -> torch.Tensor:
    """The mask, read off a tensor of ones."""
    return dropout(torch.ones(shape, device=device), p, seed) != 0


def within(reads: list, writes: list):
    return only_touching(reads, writes) if reads[0].device.type == "cpu" else contextlib.nullcontext()


@triton.jit(do_not_specialize=["seed"])
def store_bits_kernel(ours_ptr, theirs_ptr, seed, start, BLOCK: tl.constexpr, VECTOR: tl.constexpr):
    """The library's bits, and those that Triton's own generator gives for the same counters."""
    lanes = tl.arange(0, BLOCK)
    tl.store(ours_ptr + lanes, philox_bits(seed.to(tl.uint64), start.to(tl.int64), BLOCK, VECTOR))
    counters = start.to(tl.int64) // 4 + tl.arange(0, BLOCK // 4)
    a, b, c, d = tl.randint4x(seed.to(tl.uint64), counters)
    theirs = tl.join(tl.join(a, c), tl.join(b, d)).reshape(BLOCK)
    tl.store(theirs_ptr + lanes, theirs.to(tl.int32, bitcast=True))


@pytest.mark.parametrize("vector", [4, 8])
@pytest.mark.parametrize("start", [0, 64, 2**34 - 64, 2**34, 5 * 2**34 + 128])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_bits_are_those_of_tritons_generator_and_of_the_reference(seed, start, vector, device):
    ours, theirs = torch.empty(2, 64, dtype=torch.int32, device=device)
    store_bits_kernel[(1,)](ours, theirs, seed, start, BLOCK=64, VECTOR=vector)
    assert torch.equal(ours, theirs)
    assert torch.equal(ours.long(), philox_reference(seed, 64, ours.device, start))


@pytest.mark.parametrize("vector", [4, 8])
def test_every_bit_of_a_counter_counts(vector, device):
    """Read without a sign, these counters end at 2^64: all their upper halves have their highest bit set."""
    ours, theirs = torch.empty(2, 64, dtype=torch.int32, device=device)
    for start in (-64, -(2**40), -(2**62)):
        store_bits_kernel[(1,)](ours, theirs, 12_345, start, BLOCK=64, VECTOR=vector)
        assert torch.equal(ours, theirs)


@triton.jit
def store_squares_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    for whole in tl.static_range(2):
        x = load_partial_tile(x_ptr, offsets, n_elements, whole == 1)
        tl.store(y_ptr + whole * BLOCK + offsets, x * x, mask=offsets < n_elements)


def test_a_part_is_loaded_as_float32(device):
    """300 squared is beyond float16."""
    x, y = torch.full((64,), 300.0, dtype=torch.float16, device=device), torch.empty(2, 64, device=device)
    store_squares_kernel[(1,)](x, y, 64, BLOCK=64)
    assert (y == 90_000).all()


def test_the_first_bits_are_the_published_ones():
    """The known answer of Philox4x32-10 for a counter and a key of zero, from the authors' own test vectors."""
    bits = philox_reference(0, 4, torch.device("cpu"))
    assert [value & 0xFFFFFFFF for value in bits.tolist()] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", LENGTHS)
def test_any_length_bit_for_bit(n, dtype, device):
    x, residual = random(n, dtype=dtype, device=device), random(n, dtype=dtype, device=device, seed=1)
    kept = x.clone()
    for p in (0.1, 0.5, 0.9):
        y = dropout(x, p, seed=n)
        assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
        torch.testing.assert_close(y, dropout_reference(x, p, seed=n), rtol=0, atol=0)
    # A GPU may round the product and the sum together.
    found, expected = dropout(x, 0.3, 7, residual), dropout_reference(x.double(), 0.3, 7, residual.double())
    torch.testing.assert_close(found, expected.to(dtype), rtol=torch.finfo(dtype).eps, atol=2e-7)
    assert torch.equal(x, kept)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_bit_of_the_seed_counts(seed, device):
    x = random(3000, device=device)
    torch.testing.assert_close(dropout(x, 0.5, seed), dropout_reference(x, 0.5, seed), rtol=0, atol=0)
    others = [kept_by(other, 0.5, (300,), device) for other in SEEDS if other != seed]
    assert not any(torch.equal(kept_by(seed, 0.5, (300,), device), other) for other in others)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("with_residual", [False, True])
@pytest.mark.parametrize("n", [1, 1000, 2048, 5000])
def test_kernel_touches_its_elements_and_no_other(n, with_residual, dtype, device):
    x = poisoned(random(n, dtype=dtype, device=device))
    residual = poisoned(random(n, dtype=dtype, device=device, seed=1)) if with_residual else None
    y, buffer = guarded((n,), dtype, device)
    with within([x, *([residual] if with_residual else [])], [y]):
        dropout_flat(x, residual, y, 0.25, 3)
    expected = dropout_reference(x, 0.25, 3, residual)
    torch.testing.assert_close(y, expected, rtol=torch.finfo(dtype).eps, atol=2e-7)
    assert_guard_untouched(y, buffer)


def test_the_mask_is_the_same_for_every_dtype_stride_and_shape(device):
    expected = kept_by(5, 0.3, (12, 100), device)
    for dtype in DTYPES:
        x = torch.ones(12, 100, dtype=dtype, device=device)
        assert torch.equal(dropout(x, 0.3, 5) != 0, expected)
        assert torch.equal(dropout(x.mT.contiguous().mT, 0.3, 5) != 0, expected)
        assert torch.equal(dropout(x.view(2, 6, 5, 20), 0.3, 5).flatten() != 0, expected.flatten())
        assert torch.equal(dropout(x[:1, :1].expand(12, 100), 0.3, 5) != 0, expected)


def test_a_longer_tensor_begins_with_the_mask_of_a_shorter_one(device):
    long = kept_by(9, 0.5, (5000,), device)
    for n in (1, 10, 1001, 4096):
        assert torch.equal(kept_by(9, 0.5, (n,), device), long[:n])


def test_what_a_smaller_p_drops_a_larger_one_drops_too(device):
    masks = [kept_by(11, p, (4000,), device) for p in (0.0, 0.1, 0.5, 0.9, 1.0)]
    for some, fewer in zip(masks, masks[1:], strict=False):
        assert not (fewer & ~some).any()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_p_of_zero_and_one_are_exact(dtype, device):
    x, residual = random(2500, dtype=dtype, device=device), random(2500, dtype=dtype, device=device, seed=1)
    for seed in (0, 2**40):
        assert torch.equal(dropout(x, 0.0, seed), x)
        assert torch.equal(dropout(x, 1.0, seed), torch.zeros_like(x))
        assert torch.equal(dropout(x, 1.0, seed, residual), residual)
    assert torch.equal(dropout(x, 0, 1), x) and torch.equal(dropout(x, 1, 1), torch.zeros_like(x))


def test_an_element_whose_bits_are_the_threshold_is_kept(device):
    bits = int(philox_reference(5, 4, torch.device("cpu"))[2])
    p = (bits + 2**31) / 2**32
    assert kept_by(5, p, (4,), device)[2] and not kept_by(5, p + 2**-32, (4,), device)[2]


def test_the_largest_p_below_one_is_no_division_by_zero(device):
    y = dropout(torch.ones(5000, device=device), 1 - 2**-53, 0)
    assert not y.isnan().any() and (y != 0).sum() <= 1


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_share_that_is_dropped(p, seed, device):
    """The count of dropped elements is binomial; five standard deviations happen once in two million times."""
    n = 2**15 if device == "cpu" else 2**26
    dropped = int((~kept_by(seed, p, (n,), device)).sum())
    assert abs(dropped - n * p) < 5 * math.sqrt(n * p * (1 - p))


def test_neighbors_lanes_and_seeds_are_independent(device):
    """The correlation of two independent masks of n elements is normal with deviation n ** -0.5."""
    n = 2**16 if device == "cpu" else 2**24
    masks = [kept_by(seed, 0.5, (n,), device).double() * 2 - 1 for seed in (100, 101, 2**32 + 100)]
    first = masks[0]
    pairs = [(first[:-lag], first[lag:]) for lag in (1, 2, 3, 4, 8, 2048, n // 2)]
    pairs += [(first, masks[1]), (first, masks[2]), (masks[1], masks[2])]
    pairs += [(first[a::4], first[b::4]) for a in range(4) for b in range(a)]
    for left, right in pairs:
        assert abs((left * right).mean().item()) < 5 / math.sqrt(len(left))
    for lane in range(8):
        assert abs(first[lane::8].mean().item()) < 5 / math.sqrt(n / 8)


def test_the_mean_is_kept(device):
    x = torch.ones(2**14, device=device)
    for p in (0.1, 0.5, 0.75):
        y = dropout(x, p, 3)
        assert abs(y.double().mean().item() - 1) < 5 * math.sqrt(p / (1 - p) / 2**14)
        assert set(y.unique().tolist()) == {0.0, torch.tensor(1 / (1 - p)).item()}


@pytest.mark.parametrize("view", VIEWS)
def test_views(view, device):
    x = VIEWS[view](random(6, 40, device=device))
    kept = x.clone()
    assert torch.equal(dropout(x, 0.4, 1), dropout_reference(x, 0.4, 1))
    residual = VIEWS[view](random(6, 40, device=device, seed=1))
    torch.testing.assert_close(dropout(x, 0.4, 1, residual), dropout_reference(x, 0.4, 1, residual), rtol=1e-6, atol=2e-7)
    torch.testing.assert_close(dropout(x, 0.4, 1, kept), dropout_reference(x, 0.4, 1, kept), rtol=1e-6, atol=2e-7)
    assert torch.equal(x, kept)


def test_views_that_negate(device):
    x = torch._neg_view(random(100, device=device))
    assert x.is_neg()
    assert torch.equal(dropout(x, 0.5, 1), dropout_reference(x.resolve_neg(), 0.5, 1))
    assert torch.equal(dropout(torch.zeros_like(x), 0.5, 1, x), x.resolve_neg())


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (0,), (3, 0), (0, 4, 2)], ids=str)
def test_one_element_none_and_no_dimensions(shape, device):
    x = random(*shape, device=device).requires_grad_()
    y = dropout(x, 0.5, 8)
    assert y.shape == x.shape and torch.equal(y, dropout_reference(x, 0.5, 8))
    y.sum().backward()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nan_and_infinity_as_in_pytorch(dtype, device):
    """PyTorch multiplies by a zero, which NaN and infinities survive as NaN."""
    x = torch.tensor([NAN, INF, -INF, 1.0], device=device).to(dtype).repeat(500)
    y, kept = dropout(x, 0.5, 2), kept_by(2, 0.5, (2000,), device)
    expected = x.float() * kept * 2
    torch.testing.assert_close(y.float(), expected, rtol=0, atol=0, equal_nan=True)
    for p in (0.0, 1.0):
        theirs = torch.nn.functional.dropout(x, p, training=True)
        torch.testing.assert_close(dropout(x, p, 2), theirs, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [5, 2048, 3000])
def test_the_backward_pass_draws_the_same_mask(n, dtype, device):
    x = random(n, dtype=dtype, device=device).requires_grad_()
    residual = random(n, dtype=dtype, device=device, seed=1).requires_grad_()
    dy = random(n, dtype=dtype, device=device, seed=2)
    dx, dresidual = torch.autograd.grad(dropout(x, 0.4, 6, residual), (x, residual), dy)
    assert torch.equal(dx, dropout_reference(dy, 0.4, 6)) and dx.dtype == dtype
    assert torch.equal(dresidual, dy)
    (alone,) = torch.autograd.grad(dropout(x, 0.4, 6), x, dy)
    assert torch.equal(alone, dx)


def test_nothing_but_the_seed_is_kept_for_the_backward_pass(device):
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: packed.append(tensor) or tensor, lambda tensor: tensor):
        dropout(random(100, device=device).requires_grad_(), 0.5, 1)
    assert packed == []


def test_gradients_that_are_not_contiguous(device):
    x = random(30, 50, device=device).requires_grad_()
    for dy in (
        random(50, 30, device=device).mT,
        random(30, 1, device=device).expand(-1, 50),
        random(30, 60, device=device)[:, 5:-5],
    ):
        (dx,) = torch.autograd.grad(dropout(x, 0.5, 4), x, dy)
        assert torch.equal(dx, dropout_reference(dy, 0.5, 4))


def test_gradient_of_one_input_alone(device):
    x, residual = random(6, device=device).requires_grad_(), random(6, device=device)
    dropout(x, 0.5, 1, residual).sum().backward()
    assert torch.equal(x.grad, dropout_reference(torch.ones(6, device=device), 0.5, 1))
    residual.requires_grad_()
    dropout(x.detach(), 0.5, 1, residual).sum().backward()
    assert torch.equal(residual.grad, torch.ones(6, device=device))


def test_second_derivative(device):
    x = random(200, device=device).requires_grad_()
    y = dropout(x**2, 0.5, 3)
    (dx,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (ddx,) = torch.autograd.grad(dx.sum(), x)
    factor = dropout_reference(torch.ones(200, device=device), 0.5, 3)
    torch.testing.assert_close(ddx, 12 * x.detach() ** 2 * factor**2, rtol=1e-5, atol=1e-6)


def test_has_no_graph_where_no_gradient_is_wanted(device):
    x = random(4, device=device)
    assert not dropout(x, 0.5, 1).requires_grad
    with torch.no_grad():
        assert not dropout(x.requires_grad_(), 0.5, 1).requires_grad


def test_without_a_seed_torch_manual_seed_decides(device):
    x = random(1000, device=device)
    torch.manual_seed(3)
    first, second = dropout(x), dropout(x)
    torch.manual_seed(3)
    assert torch.equal(dropout(x), first) and torch.equal(dropout(x), second)
    assert not torch.equal(first, second)
    torch.manual_seed(3)
    torch.testing.assert_close(dropout_reference(x), first, rtol=0, atol=0)


def test_a_seed_leaves_pytorchs_generator_alone(device):
    state = torch.get_rng_state()
    dropout(random(10, device=device), 0.5, 1)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("p", [-0.001, 1.001, 2, -1, NAN, INF])
def test_a_p_out_of_range_is_refused(p, device):
    with pytest.raises(ValueError, match=rf"^p: expected a number from 0 to 1, got {p}$"):
        dropout(torch.ones(3, device=device), p, 0)


@pytest.mark.parametrize("p", ["0.5", None, True, [0.5]])
def test_a_p_that_is_no_number_is_refused(p, device):
    with pytest.raises(TypeError, match=rf"^p: expected a float, got {type(p).__name__}$"):
        dropout(torch.ones(3, device=device), p, 0)


@pytest.mark.parametrize("seed", [-1, 2**64, -(2**63)])
def test_a_seed_out_of_range_is_refused(seed, device):
    with pytest.raises(ValueError, match=rf"^seed: expected an int from 0 to 2\*\*64 - 1, got {seed}$"):
        dropout(torch.ones(3, device=device), 0.5, seed)


@pytest.mark.parametrize("seed", [1.0, "1", True, torch.tensor(1)])
def test_a_seed_that_is_no_int_is_refused(seed, device):
    with pytest.raises(TypeError, match=rf"^seed: expected an int, got {type(seed).__name__}$"):
        dropout(torch.ones(3, device=device), 0.5, seed)


@pytest.mark.parametrize("wrong", [torch.int32, torch.bool, torch.float64, torch.complex64], ids=str)
def test_other_dtypes_are_refused(wrong, device):
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^x: expected dtype float32, float16 or bfloat16, got {name}$"):
        dropout(torch.ones(3, dtype=wrong, device=device), 0.5, 0)


def test_another_residual_is_refused(device):
    x = torch.ones(2, 3, device=device)
    with pytest.raises(TypeError, match=r"^x: expected a torch.Tensor, got list$"):
        dropout([1.0], 0.5, 0)
    with pytest.raises(TypeError, match=r"^residual: expected a torch.Tensor, got float$"):
        dropout(x, 0.5, 0, 1.0)
    with pytest.raises(TypeError, match=r"^residual: expected dtype float32, the dtype of x, got float16$"):
        dropout(x, 0.5, 0, x.half())
    with pytest.raises(ValueError, match=r"^residual: expected shape \(2, 3\), the shape of x, got \(3,\)$"):
        dropout(x, 0.5, 0, x[0])
    with pytest.raises(ValueError, match=r"^residual: expected device .*, the device of x, got meta$"):
        dropout(x, 0.5, 0, x.to("meta"))


@needs("cuda")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_on_the_gpu_at_every_alignment(dtype, device):
    buffer = random(2, 100_000, dtype=dtype, device=device)
    for start in range(9):
        for length in (98_304, 98_432, 98_433):
            x, residual = buffer[0, start:][:length], buffer[1, start:][:length]
            assert torch.equal(dropout(x, 0.3, start), dropout_reference(x, 0.3, start))
            y = dropout(x, 0.3, start, residual)
            expected = dropout_reference(x, 0.3, start, residual)
            torch.testing.assert_close(y, expected, rtol=torch.finfo(dtype).eps, atol=2e-7)


@needs("cuda")
@pytest.mark.parametrize("extra", [0, 5])
def test_more_than_two_to_the_31_elements(extra, device):
    need_free_memory(40)
    n = 2**31 + 2**15 + extra
    x = torch.ones(n, dtype=torch.bfloat16, device=device)
    y = dropout(x, 0.5, 1)
    share = sum(int((part == 0).sum()) for part in y.split(2**28)) / n
    assert abs(share - 0.5) < 5 * 0.5 / math.sqrt(n)
    for first in (0, 2**30, 2**31 - 2**12, n // 4 * 4 - 2**12):
        kept = philox_reference(1, min(2**13, n - first), x.device, first) >= 0
        assert torch.equal(y[first:][: len(kept)] != 0, kept)
