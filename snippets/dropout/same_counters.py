"""A kernel that counts from zero in every program: each block of the tensor gets the same mask."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:same]
import triton
import triton.language as tl


@triton.jit
def same_counters_kernel(x_ptr, y_ptr, p, seed, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + lanes
    x = tl.load(x_ptr + offsets)
    kept = tl.rand(seed, lanes) >= p  # should count the elements: offsets
    tl.store(y_ptr + offsets, tl.where(kept, x / (1 - p), 0.0))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(4, 256, device=device)
y = torch.empty_like(x)
same_counters_kernel[(4,)](x, y, 0.5, 7, BLOCK=256)
print("every block alike:", torch.equal(y, y[:1].expand(4, -1)))
#> every block alike: True
print(f"dropped: {(y == 0).float().mean():.2f}")
#> dropped: 0.46
# --8<-- [end:same]
