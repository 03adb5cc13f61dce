"""What tolerance to test a product with: one that a right kernel passes, and one that loses a single term does not."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:tolerance]
import torch

from kernels.matmul import matmul

# Half the step from a number to the next, as a share of it.
STEP = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}


def check_product(c, a, b, terms_step=2.0**-22):
    """Every element within the rounding of its storage and that of its sum, which grows with the root of K."""
    exact = a.double() @ b.double()  # of the numbers that the kernel read
    spread = (a.double().square() @ b.double().square()).sqrt()  # how large a sum of such terms is
    K = a.shape[1]
    allowed = 2 * STEP[c.dtype] * exact.abs() + 8 * terms_step * K**0.5 * spread
    off = (c.double() - exact).abs()
    assert bool((off <= allowed).all()), f"off by {(off / allowed).max():.1f} times what is allowed"


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randn(64, 1000).half().to(device)
b = torch.randn(1000, 64).half().to(device)
c = matmul(a, b)
check_product(c, a, b)
print("the right product passes")
#> the right product passes

lost = a.clone()
lost[:, 999] = 0  # a loop that ends one term early
c_lost = matmul(lost, b)
torch.testing.assert_close(c_lost, c, rtol=0.1, atol=5.0)
print("a generous tolerance lets a lost term pass")
#> a generous tolerance lets a lost term pass
try:
    check_product(c_lost, a, b)
except AssertionError:
    print("this one does not")
    #> this one does not
# --8<-- [end:tolerance]
