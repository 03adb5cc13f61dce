"""Part 3: the sum of a vector, with the same bits every time."""

import pytest
import torch
from reduce import total


@pytest.mark.parametrize("n", [1, 31, 256, 1000, 70_001])
@pytest.mark.parametrize("blocks", [1, 5, 300])
def test_any_grid_adds_up_any_length(cpp, n, blocks):
    x = torch.randn(n, device=cpp)
    assert abs(total(x, blocks).item() - x.double().sum().item()) < 1e-5 * n**0.5 * max(1, x.abs().max().item())


def test_every_element_counts_once(cpp):
    x = torch.arange(1.0, 2049, device=cpp)
    assert total(x, 2).item() == 2048 * 2049 / 2


def test_the_same_bits_come_every_time(cpp):
    x = torch.randn(50_000, device=cpp)
    assert len({total(x).item() for _ in range(3)}) == 1
