"""Part 2: the sum is PyTorch's to the bit, whatever the length and the grid, and each element is added once."""

import pytest
import torch
from add import ADD, add
from cuda_build import call


@pytest.mark.parametrize("n", [1, 255, 256, 1000, 70_001])
@pytest.mark.parametrize("blocks", [1, 3, 64])
def test_any_grid_adds_any_length(cpp, n, blocks):
    x, y = torch.randn(2, n, device=cpp)
    torch.testing.assert_close(add(x, y, blocks), x + y, rtol=0, atol=0)


@pytest.mark.parametrize("n, blocks", [(255, 1), (1000, 3), (70_001, 64)])
def test_each_element_is_added_once_and_what_lies_behind_stays(cpp, n, blocks):
    x, y = torch.randn(2, n + 300, device=cpp)
    before, expected = x.clone(), x[:n] + y[:n]
    call(ADD, x, y, x, n, blocks)  # in place, so that what is added twice shows
    hint = "Is each element added, and by one thread alone?"
    torch.testing.assert_close(x[:n], expected, rtol=0, atol=0, msg=lambda text: f"{text}\n{hint}")
    torch.testing.assert_close(x[n:], before[n:], rtol=0, atol=0, msg=lambda text: f"behind the {n} elements: {text}")


def test_a_vector_may_begin_anywhere(cpp):
    x, y = torch.randn(2, 1001, device=cpp)
    torch.testing.assert_close(add(x[1:], y[:-1]), x[1:] + y[:-1], rtol=0, atol=0)
