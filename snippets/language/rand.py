"""Random numbers from a seed and a position."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:rand]
import torch
import triton
import triton.language as tl


@triton.jit
def random_kernel(out_ptr, seed, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out_ptr + i, tl.rand(seed, i))  # uniform, at least 0 and below 1
    tl.store(out_ptr + n + i, tl.randn(seed, i))  # normal
    tl.store(out_ptr + 2 * n + i, (tl.randint(seed, i) & 1).to(tl.float32))  # 32 random bits, of which this keeps one


device = "cuda" if torch.cuda.is_available() else "cpu"
first, again, other = (torch.empty((3, 4096), device=device) for _ in range(3))
random_kernel[(1,)](first, 7, 4096)
random_kernel[(1,)](again, 7, 4096)
random_kernel[(1,)](other, 8, 4096)
print("the same seed and positions, the same numbers:", torch.equal(first, again))
#> the same seed and positions, the same numbers: True
print("another seed, other numbers:", not torch.equal(first, other))
#> another seed, other numbers: True
print("means near 0.5, 0 and 0.5:", (first.mean(1).cpu() - torch.tensor([0.5, 0, 0.5])).abs().max().item() < 0.05)
#> means near 0.5, 0 and 0.5: True
# --8<-- [end:rand]
