"""Atomics: how many of the numbers between 0 and 1 fall into each of 256 equal bins?"""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def histogram_kernel(
    x_ptr, counts_ptr, n_elements,
    BINS: tl.constexpr, BLOCK: tl.constexpr, LOCAL: tl.constexpr,
):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    bins = tl.minimum((x * BINS).to(tl.int32), BINS - 1)
    if LOCAL:
        counts = tl.histogram(bins, BINS, mask=mask)  # [BINS], within the program
        tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts)
    else:
        tl.atomic_add(counts_ptr + bins, 1, mask=mask)  # one for every element


def histogram(x, local=True):
    counts = torch.zeros(256, dtype=torch.int32, device=x.device)
    grid = (triton.cdiv(x.numel(), 4096),)
    sizes = {"BINS": 256, "BLOCK": 4096, "num_warps": 8}
    histogram_kernel[grid](x, counts, x.numel(), LOCAL=local, **sizes)
    return counts
# --8<-- [end:kernel]


# --8<-- [start:use]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(50_000, device=device)
expected = torch.histc(x, bins=256, min=0, max=1).int()
for local in (True, False):
    assert torch.equal(histogram(x, local), expected)
print("both histograms agree with PyTorch")
#> both histograms agree with PyTorch
# --8<-- [end:use]
