"""The library: sums, maxima and histograms, as PyTorch has them."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:uses]
from kernels.reductions import histogram
from kernels.reductions import max
from kernels.reductions import sum

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(60, 50, 40, device=device)
torch.testing.assert_close(sum(x), x.sum(), rtol=1e-4, atol=1e-3)
torch.testing.assert_close(sum(x, dim=1), x.sum(dim=1), rtol=1e-4, atol=1e-4)
values, indices = max(x, dim=0)
assert torch.equal(values, x.max(dim=0).values)
assert torch.equal(indices, x.max(dim=0).indices)
counts = histogram(x, bins=20, min=-2, max=2)
assert torch.equal(counts.float(), torch.histc(x, bins=20, min=-2, max=2))
print(counts.dtype, len(counts))
#> torch.int64 20
# --8<-- [end:uses]
