"""A test that the forgetful kernel does not pass: the last element made to matter, and a bound from the arithmetic."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("no CUDA device: running under Triton's interpreter")
device = "cuda" if torch.cuda.is_available() else "cpu"

from kernels.softmax import softmax


# --8<-- [start:check]
def check_softmax(function, n_columns):
    """Every element in turn is the one that matters; float64 says what is right."""
    x = torch.randn(n_columns, n_columns)
    x.fill_diagonal_(20.0)  # row i hangs on element i
    y = function(x.to(device)).cpu().double()
    right = torch.softmax(x.double(), dim=-1)
    bound = 16 * torch.finfo(torch.float32).eps
    return ((y - right).abs() <= bound * right).all().item()


def forgetful(x):
    numerator = (x - x.amax(-1, keepdim=True)).exp()
    return numerator / numerator[:, :-1].sum(-1, keepdim=True)


torch.manual_seed(0)
print(check_softmax(softmax, 100), check_softmax(forgetful, 100))
#> True False
# --8<-- [end:check]
