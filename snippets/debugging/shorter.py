"""A loop that goes wrong at one of its 64 trips, found by shorter and shorter inputs, with the kernel left as it is."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from snippets.debugging.first_wrong import first_wrong

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:kernel]
@triton.jit
def running_suspect_kernel(x_ptr, total_ptr, N, BLOCK: tl.constexpr):
    largest, total = float("-inf"), 0.0
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + columns, mask=columns < N, other=float("-inf"))
        new = tl.maximum(largest, tl.max(x, axis=0))
        total += tl.sum(tl.exp(x - new), axis=0)
        largest = new
    tl.store(total_ptr, total)
# --8<-- [end:kernel]


# --8<-- [start:shorter]
x = torch.rand(4096, device=device)
x[0], x[2567] = 1.0, 3.0


def is_right(trips):
    part = x[: 64 * trips]
    total = torch.empty(1, device=device)
    running_suspect_kernel[(1,)](part, total, len(part), BLOCK=64)
    return torch.allclose(total, (part - part.max()).exp().sum(), rtol=1e-4)


trip, asked = first_wrong(range(1, 65), is_right)
print(asked)
#> 32 right, 48 wrong, 40 right, 44 wrong, 42 wrong, 41 wrong
print(f"trip {trip} brings columns {64 * trip - 64} to {64 * trip - 1}; the largest is at {x.argmax().item()}")
#> trip 41 brings columns 2560 to 2623; the largest is at 2567
# --8<-- [end:shorter]
