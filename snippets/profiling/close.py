"""What triton.testing.assert_close lets pass."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import torch
import triton
import triton.language as tl

# --8<-- [start:close]
from triton.testing import assert_close


def passes(check, found, expected, **options):
    try:
        check(found, expected, **options)
    except AssertionError:
        return False
    return True


small = torch.tensor([1e-3, 2e-3, 5e-3])
nothing = torch.zeros(3)
print(passes(assert_close, nothing, small))  # every value is lost
#> True
print(passes(torch.testing.assert_close, nothing, small))
#> False
large = torch.tensor([10_000.0, 20_000.0])
print(passes(assert_close, large * (1 + 2e-6), large))  # off in the last digits
#> False
print(passes(assert_close, large * (1 + 2e-6), large, atol=0, rtol=1e-5))
#> True
print(passes(assert_close, torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")])))
#> True
# --8<-- [end:close]
