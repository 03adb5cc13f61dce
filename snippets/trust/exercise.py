"""Inputs in which every element matters in turn, so that even a wide tolerance finds one that was forgotten."""

import torch


# --8<-- [start:check]
def check_softmax(function, n_columns):
    """Every element in turn is the one that matters; float64 says what is right."""
    x = torch.randn(n_columns, n_columns)
    x.fill_diagonal_(20.0)  # row i hangs on element i
    right = torch.softmax(x.double(), dim=-1)
    return torch.allclose(function(x).double(), right, rtol=1e-2, atol=1e-2)


def without(element):
    """A softmax whose sum leaves one element out."""

    def softmax(x):
        numerator = (x - x.amax(-1, keepdim=True)).exp()
        left = numerator.sum(-1, keepdim=True) - numerator[:, element : element + 1]
        return numerator / left

    return softmax


torch.manual_seed(0)
print("softmax:", check_softmax(lambda x: torch.softmax(x, -1), 1000))
#> softmax: True
print("forgotten:", any(check_softmax(without(i), 1000) for i in (0, 499, 999)))
#> forgotten: False
# --8<-- [end:check]
