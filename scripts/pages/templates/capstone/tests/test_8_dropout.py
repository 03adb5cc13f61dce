"""Part 8: the right share is dropped, the rest is scaled, and the way back drops the same elements."""

import pytest
import torch
import torch.nn.functional as F
from dropout import dropout


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9])
def test_the_right_share_is_dropped_and_the_rest_scaled(device, p):
    y = dropout(torch.ones(20_000, device=device), p, seed=3)
    kept = y != 0
    share = kept.float().mean().item()
    is_right = abs(share - (1 - p)) < 0.02
    assert is_right, f"p={p}: {share:.1%} of the elements are kept, where {1 - p:.0%} should be, give or take two in a hundred"
    torch.testing.assert_close(y[kept], torch.full_like(y[kept], 1 / (1 - p)))


def test_the_way_back_drops_the_same_elements(device):
    x = (torch.rand(3000, device=device) + 1).requires_grad_()
    y = dropout(x, 0.3, seed=5)
    (dx,) = torch.autograd.grad(y, x, torch.ones_like(y))
    torch.testing.assert_close(dx, (y != 0) / 0.7)


def test_a_seed_drops_the_same_elements_and_another_one_others(device):
    x = torch.ones(3000, device=device)
    assert torch.equal(dropout(x, 0.5, seed=1), dropout(x, 0.5, seed=1))
    assert not torch.equal(dropout(x, 0.5, seed=1), dropout(x, 0.5, seed=2))


def test_no_element_follows_another_one(device):
    kept = dropout(torch.ones(20_000, device=device), 0.5, seed=7) != 0
    for step in (1, 2, 3, 4, 512, 1024, 2048, 4096):  # within a draw of four, and from program to program
        alike = (kept[step:] == kept[:-step]).float().mean().item()
        assert abs(alike - 0.5) < 0.03, f"elements {step} apart: {alike:.0%} share their fate, where chance gives 50%"


def test_a_seed_is_no_shift_of_another_one(device):
    one, other = (dropout(torch.ones(20_000, device=device), 0.5, seed=seed) != 0 for seed in (1, 2))
    for step in range(9):  # a draw is one element or four
        for early, late in ((one, other), (other, one)):
            alike = (late[step:] == early[: len(early) - step]).float().mean().item()
            said = f"seeds 1 and 2, {step} elements apart: {alike:.0%} share their fate, where chance gives 50%"
            assert abs(alike - 0.5) < 0.03, said


@pytest.mark.parametrize("n", [2**25, 2**26])
def test_benchmark(gpu, faster, n):
    x = torch.randn(n, device="cuda").bfloat16()
    faster(lambda: dropout(x, 0.1), lambda: F.dropout(x, 0.1))
