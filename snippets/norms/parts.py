"""The variance of rows that are split over programs: a mean and a sum of squared distances a part, put together."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:kernels]
import torch
import triton
import triton.language as tl


@triton.jit
def part_moments_kernel(x_ptr, means_ptr, squares_ptr, n_columns, PART: tl.constexpr):
    # This program owns one part of one row.
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    columns = part * PART + tl.arange(0, PART)  # [PART]
    mask = columns < n_columns  # [PART]
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / tl.minimum(n_columns - part * PART, PART)
    distances = tl.where(mask, x - mean, 0.0)  # [PART]
    place = row * tl.num_programs(1) + part
    tl.store(means_ptr + place, mean)
    tl.store(squares_ptr + place, tl.sum(distances * distances, axis=0))


@triton.jit
def joined_moments_kernel(
    means_ptr, squares_ptr, variance_ptr, n_columns, n_parts,
    PART: tl.constexpr, PARTS: tl.constexpr,
):
    # This program owns one row, and puts its parts together.
    row = tl.program_id(0).to(tl.int64)
    parts = tl.arange(0, PARTS)  # [PARTS]
    mask = parts < n_parts  # [PARTS]
    counts = tl.where(mask, tl.minimum(n_columns - parts * PART, PART), 0)  # [PARTS]
    means = tl.load(means_ptr + row * n_parts + parts, mask=mask, other=0.0)
    squares = tl.load(squares_ptr + row * n_parts + parts, mask=mask, other=0.0)
    apart = means - tl.sum(means * counts, axis=0) / n_columns  # [PARTS]
    total = tl.sum(squares + counts * apart * apart, axis=0)
    tl.store(variance_ptr + row, total / n_columns)
# --8<-- [end:kernels]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(3, 3000, device=device) + 5000
means, squares = torch.empty(2, 3, 6, device=device)  # six parts a row, the last not whole
variance = torch.empty(3, device=device)
part_moments_kernel[(3, 6)](x, means, squares, 3000, PART=512)
joined_moments_kernel[(3,)](means, squares, variance, 3000, 6, PART=512, PARTS=8)
exact = x.double().var(1, correction=0).float()
torch.testing.assert_close(variance, exact, rtol=1e-4, atol=0)
print("the parts' variance is the row's, although its mean is far from zero")
#> the parts' variance is the row's, although its mean is far from zero
# --8<-- [end:launch]
