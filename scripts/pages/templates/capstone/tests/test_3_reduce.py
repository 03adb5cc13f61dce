"""Part 3: the sum of a vector, with the same bits every time."""

import math

import pytest
import torch
from reduce import total


@pytest.mark.parametrize("n", [1, 31, 256, 1000, 70_001])
@pytest.mark.parametrize("blocks", [1, 5, 300])
def test_any_grid_adds_up_any_length(cpp, n, blocks):
    x = torch.cat((torch.randn(n), torch.full((300,), torch.nan))).to(cpp)[:n]  # what lies behind is not to be read
    found, right = total(x, blocks).item(), x.double().sum().item()
    error, bound = abs(found - right), 1e-5 * n**0.5 * max(1, x.abs().max().item())
    unset = "; NaN stands behind the vector, in sums that no block has stored, and with g++ in new shared memory"
    assert error < bound, f"n={n}, blocks={blocks}: sum {found}, PyTorch's {right}{unset if math.isnan(found) else ''}"


def test_every_element_counts_once(cpp):
    x = torch.arange(1.0, 2049, device=cpp)
    found = total(x, 2).item()
    assert found == 2048 * 2049 / 2, f"the sum of 1 to 2048 is {2048 * 2049 // 2}, and not {found:.0f}"


def test_the_same_bits_come_every_time(cpp):
    x = torch.randn(50_000, device=cpp)
    found = {total(x).item() for _ in range(3)}
    assert len(found) == 1, f"three calls with the same numbers: {found}"
