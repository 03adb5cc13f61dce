"""kernels.histogram against counts made one by one, on both routes: counted within a program, and in memory."""

import pytest
import torch

from kernels import histogram
from kernels.reductions.histogram import LARGEST, MOST_BINS, histogram_flat, histogram_reference
from tests.interpreter import addresses
from tests.kernels.numerics import DTYPES, VIEWS, poisoned, random
from tests.needs import need_free_memory, needs

NAN, INF = float("nan"), float("inf")
# On both sides of the limit between the routes.
BINS = [1, 2, 7, 32, 33, 100, 256, 512, 513, 3000]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bins", BINS)
def test_floats_between_edges(bins, dtype, device):
    x = random(4097, dtype=dtype, device=device)
    for edges in ((-1, 1), (-8.0, 8.0), (0.25, 0.75), (3, 5)):
        counts = histogram(x, bins, *edges)
        assert (counts.shape, counts.dtype, counts.device) == ((bins,), torch.int64, x.device)
        assert torch.equal(counts, histogram_reference(x, bins, *edges))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bins", [1, 10, 600])
def test_the_edges_are_those_of_the_data_unless_said(bins, dtype, device):
    x = random(1000, dtype=dtype, device=device) * 3 + 7
    counts = histogram(x, bins)
    assert counts.sum() == 1000 and counts[0] > 0 and counts[-1] > 0
    assert torch.equal(counts, histogram(x, bins, x.min().item(), x.max().item()))
    assert torch.equal(counts, histogram_reference(x, bins))


@pytest.mark.parametrize("bins", [4, 10, 600])
def test_as_torch_histc(bins, device):
    x = random(3000, device=device)
    for edges in ((), (-1, 1), (-3.0, 4.0), (0, 10)):
        assert torch.equal(histogram(x, bins, *edges).float(), torch.histc(x, bins, *edges))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("bins", [1, 100, 256, 300, 600])
def test_integers_are_their_own_bins(bins, dtype, device):
    x = torch.arange(-300, 3000, device=device).to(dtype)
    assert torch.equal(histogram(x, bins), histogram_reference(x, bins))
    x = torch.full((1500,), 99, dtype=dtype, device=device)
    assert torch.equal(histogram(x, bins), torch.bincount(x[x.long() < bins].long(), minlength=bins))


def test_large_integers_are_in_no_bin(device):
    x = torch.tensor([2**40, 2**32 + 1, -(2**40), 2**63 - 1, -(2**63), 2**31, 1], device=device)
    assert histogram(x, 3).tolist() == [0, 1, 0]
    assert histogram(torch.tensor([2**31 - 1, -(2**31), 2], dtype=torch.int32, device=device), 600)[2] == 1
    assert histogram(x, 600).sum() == 1


@pytest.mark.parametrize("bins", [10, 1000])
def test_a_value_on_an_edge_begins_its_bin(bins, device):
    x = torch.arange(bins + 1, device=device, dtype=torch.float32)
    counts = histogram(x, bins, 0, bins)
    assert counts[:-1].eq(1).all() and counts[-1] == 2  # the last edge belongs to the last bin
    below = torch.nextafter(x, torch.tensor(-1.0, device=device))
    counts = histogram(below, bins, 0, bins)
    assert counts.sum() == bins and counts.eq(1).all()


@pytest.mark.parametrize("bins", [5, 700])
def test_what_lies_outside_is_not_counted(bins, device):
    x = torch.tensor([NAN, INF, -INF, 3e38, -3e38, -1e-38, 1.0000001, 0.0, -0.0, 1.0, 0.5], device=device)
    counts = histogram(x, bins, 0, 1)
    assert counts.sum() == 4 and counts[0] == 2 and counts[-1] == 1


@pytest.mark.parametrize("bins", [3, 600])
@pytest.mark.parametrize("value", [0.0, 1.0, -5.0, 65_504.0, 1e10, 1e37])
def test_edges_that_are_equal_are_moved_apart(value, bins, device):
    x = torch.full((50,), value, device=device)
    for counts in (histogram(x, bins), histogram(x, bins, value, value)):
        assert counts.sum() == 50 and counts[bins // 2 - 1 : bins // 2 + 1].sum() == 50


def test_nothing_to_count(device):
    for dtype in (torch.float32, torch.int64):
        x = torch.empty(0, 3, dtype=dtype, device=device)
        assert torch.equal(histogram(x, 4), torch.zeros(4, dtype=torch.int64, device=device))


@pytest.mark.parametrize("bins", [8, 600])
@pytest.mark.parametrize("name", VIEWS)
def test_views(name, bins, device):
    x = VIEWS[name](random(3, 20, 33, device=device))
    assert torch.equal(histogram(x, bins, -1, 1), histogram_reference(x, bins, -1, 1))


def test_no_dimensions_and_a_sign_still_to_be_turned(device):
    assert histogram(torch.tensor(0.5, device=device), 2, 0, 1).tolist() == [0, 1]
    x = torch._neg_view(random(30, device=device))
    assert torch.equal(histogram(x, 6, -1, 1), histogram_reference(x.clone(), 6, -1, 1))


@pytest.mark.parametrize("bins", [1, 31, 33, 600])
@pytest.mark.parametrize("n", [1, 1023, 1024, 1025, 9000])
def test_the_kernel_counts_its_elements_in_its_bins_and_no_more(n, bins, device):
    x = poisoned(torch.rand(n, generator=torch.Generator().manual_seed(0)).to(device))
    buffer = torch.full((bins + 2000,), 5, dtype=torch.int64, device=device)
    counts = buffer[1000 : 1000 + bins].zero_()
    histogram_flat(x, counts[None], 0.0, 1.0)
    assert torch.equal(counts, histogram_reference(x, bins, 0, 1)) and counts.sum() == n
    assert (buffer[:1000] == 5).all() and (buffer[1000 + bins :] == 5).all()


@pytest.mark.parametrize("bins", [3, 31, 600])
def test_no_addition_goes_beside_the_counts(bins, device, monkeypatch):
    """Not even one of zero, which would change nothing there. On a GPU only the sum is looked at."""
    counts = torch.zeros(1, bins, dtype=torch.int64, device=device)
    seen = set()
    if counts.device.type == "cpu":
        from triton.runtime.interpreter import InterpreterBuilder

        add = InterpreterBuilder.create_atomic_rmw

        def watched(self, operation, pointers, values, mask, *arguments):
            seen.update(int(pointer) for pointer, on in zip(pointers.data.ravel(), mask.data.ravel(), strict=True) if on)
            return add(self, operation, pointers, values, mask, *arguments)

        monkeypatch.setattr(InterpreterBuilder, "create_atomic_rmw", watched)
    histogram_flat(torch.rand(5000, generator=torch.Generator().manual_seed(0)).to(device), counts, 0.0, 1.0)
    assert counts.sum() == 5000 and (not seen or seen == set(addresses([counts])))
    assert (len(seen) == bins) == (counts.device.type == "cpu")


@pytest.mark.parametrize("bins", [6, 600])
def test_extreme_edges(bins, device):
    x = torch.tensor([-1e35, -1.0, 0.0, 1.0, 1e35], device=device)
    assert torch.equal(histogram(x, bins), histogram_reference(x, bins))
    tiny = torch.tensor([0.0, 1e-38, 2e-38], device=device)
    assert histogram(tiny, bins).sum() == 3


def test_is_not_differentiable(device):
    x = random(10, device=device).requires_grad_()
    assert not histogram(x, 3).requires_grad
    assert not histogram(x, 3, 0, 1).requires_grad


@pytest.mark.parametrize("wrong", [torch.int8, torch.int16, torch.bool, torch.float64, torch.complex64], ids=str)
def test_other_dtypes_are_refused(wrong, device):
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^x: expected dtype float32, float16, bfloat16, uint8, int32 or int64, got {name}$"):
        histogram(torch.ones(3, dtype=wrong, device=device), 3)


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"^x: expected a torch.Tensor, got list$"):
        histogram([1.0, 2.0], 3)


@pytest.mark.parametrize("bins", [3.0, "3", None, True])
def test_bins_that_are_no_int_are_refused(bins, device):
    with pytest.raises(TypeError, match=rf"^bins: expected an int, got {type(bins).__name__}$"):
        histogram(torch.ones(3, device=device), bins)


@pytest.mark.parametrize("bins", [0, -1, MOST_BINS + 1])
def test_bins_out_of_range_are_refused(bins, device):
    with pytest.raises(ValueError, match=rf"^bins: expected a number from 1 to 4194304, got {bins}$"):
        histogram(torch.ones(3, device=device), bins)


@pytest.mark.parametrize(
    ("edges", "error", "message"),
    [
        ((0, None), ValueError, "^min, max: expected both or neither, got 0 and None$"),
        ((None, 1), ValueError, "^min, max: expected both or neither, got None and 1$"),
        ((2, 1), ValueError, "^min, max: expected min <= max, got 2.0 and 1.0$"),
        ((0, INF), ValueError, "^min, max: expected finite numbers, got a range from 0.0 to inf$"),
        ((NAN, 1), ValueError, "^min, max: expected finite numbers, got a range from nan to 1.0$"),
        ((0, 1e39), ValueError, "^min, max: expected finite numbers, got a range from 0.0 to inf$"),
        ((-LARGEST, LARGEST), ValueError, "^min, max: expected a range whose product with bins fits float32, "),
        (("0", 1), TypeError, "^min: expected a number, got str$"),
        ((0, True), TypeError, "^max: expected a number, got bool$"),
    ],
)
def test_edges_that_make_no_range_are_refused(edges, error, message, device):
    with pytest.raises(error, match=message):
        histogram(torch.ones(3, device=device), 4, *edges)


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_data_that_make_no_range_are_refused(value, device):
    x = torch.tensor([1.0, value, 2.0], device=device)
    with pytest.raises(ValueError, match="^x: expected finite elements, or min and max, which say what to count, got a range"):
        histogram(x, 4)


def test_edges_for_integers_are_refused(device):
    with pytest.raises(TypeError, match="^min, max: expected neither for dtype int64, whose bins are its values$"):
        histogram(torch.ones(3, dtype=torch.int64, device=device), 4, 0, 4)


@needs("cuda")
@pytest.mark.parametrize("bins", BINS)
def test_on_the_gpu_at_full_size(bins, device):
    x = torch.rand(2**24 + 3, device=device)
    for values in (x, torch.full_like(x, 0.5), x.bfloat16(), (x * bins).int()):
        edges = (0, 1) if values.is_floating_point() else ()
        assert torch.equal(histogram(values, bins, *edges), histogram_reference(values, bins, *edges))


@needs("cuda")
@pytest.mark.parametrize("bins", [256, 1000])
def test_more_than_two_to_the_31_elements(bins, device):
    need_free_memory(10)
    x = torch.ones(2**31 + 5, device=device, dtype=torch.uint8)
    x[-3:] = 7
    counts = histogram(x, bins)
    assert counts[1] == 2**31 + 2 and counts[7] == 3 and counts.sum() == x.numel()
