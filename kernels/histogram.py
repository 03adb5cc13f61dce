"""How many elements fall into each of several equal bins.

    counts[b] = the number of i with b <= (x[i] - min) / (max - min) * bins < b + 1

Which bin an element goes to depends on its value, so any program may have to count in any bin: the counts meet by
atomic additions. For few bins a program counts its own elements on the chip first (`tl.histogram`) and adds its counts
in the end; for many it adds element by element. Counts are integers, so their order changes nothing: the same input
gives the same counts. For n elements of e bytes the kernel reads ne bytes.
"""

import math

import torch
import triton
import triton.language as tl

from kernels.arguments import check_count, check_countable_tensor
from kernels.reduction import flattened

MOST_BINS = 2**24  # beyond it float32 cannot number the bins
LARGEST = torch.finfo(torch.float32).max


# --8<-- [start:kernel]
@triton.jit
def histogram_kernel(
    x_ptr, counts_ptr, x_stride, low, high, n_elements, n_bins, n_copies, BINS: tl.constexpr, BLOCK: tl.constexpr, LOCAL: tl.constexpr
):
    # This program owns every num_programs-th block.
    pid = tl.program_id(0).to(tl.int64)
    width = high - low
    if not LOCAL:
        counts_ptr += pid % n_copies * n_bins
    counts = tl.zeros([BINS], tl.int32)
    for start in range(pid * BLOCK, n_elements, tl.num_programs(0).to(tl.int64) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)  # [BLOCK]
        mask = offsets < n_elements  # [BLOCK]
        x = tl.load(x_ptr + offsets * x_stride, mask=mask, other=0)
        if x.dtype.is_int():
            x = x.to(tl.int64)
            inside = mask & (x >= 0) & (x < n_bins)  # [BLOCK]
            bins = tl.where(inside, x, 0).to(tl.int32)  # [BLOCK]
        else:
            x = x.to(tl.float32)
            inside = mask & (x >= low) & (x <= high)  # [BLOCK]
            place = (x - low) * n_bins  # [BLOCK]
            bins = tl.where(inside, place * (1.0 / width), 0.0).to(tl.int32)  # [BLOCK]
            # Multiplying by an inverse may miss by one. What is left over is exact in a fused multiply-add, and tells.
            left = tl.fma(-bins.to(tl.float32), width, place)  # [BLOCK]
            bins += (left >= width).to(tl.int32) - (left < 0).to(tl.int32)
            bins = tl.minimum(tl.maximum(bins, 0), n_bins - 1)  # [BLOCK]
        if LOCAL:
            counts += tl.histogram(bins, BINS, mask=inside)
        else:
            tl.atomic_add(counts_ptr + bins, tl.full([BLOCK], 1, tl.int64), mask=inside, sem="relaxed")
    if LOCAL:
        places = tl.arange(0, BINS)  # [BINS]
        tl.atomic_add(counts_ptr + places, counts.to(tl.int64), mask=places < n_bins, sem="relaxed")
# --8<-- [end:kernel]


def histogram_flat(x: torch.Tensor, counts: torch.Tensor, low: float, high: float) -> torch.Tensor:
    n_elements, n_bins = x.shape[0], counts.shape[0]
    local = n_bins <= 512
    block, programs = (4096, 1056) if local else (1024, 4096)
    grid = (min(programs, -(-n_elements // block)),)
    meta = {"BINS": max(32, triton.next_power_of_2(n_bins)) if local else 1, "BLOCK": block, "LOCAL": local, "num_warps": 4}
    histogram_kernel[grid](x, counts, x.stride(0), low, high, n_elements, n_bins, 1, **meta)
    return counts


def histogram_range(x: torch.Tensor, bins: int, low: float | None, high: float | None) -> tuple[float, float]:
    """The edges of the outermost bins, as float32 numbers apart from each other."""
    if low is None or high is None:
        if x.numel() == 0:
            return 0.0, 1.0
        low, high = (edge.item() for edge in torch.aminmax(x.detach()))
        name = "x: expected finite elements, or min and max, which say what to count"
    else:
        name = "min, max: expected finite numbers"
    low, high = torch.tensor([low, high], dtype=torch.float64).float().tolist()
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"{name}, got a range from {low} to {high}")
    if low > high:
        raise ValueError(f"min, max: expected min <= max, got {low} and {high}")
    if low == high:
        apart = abs(low) / 1024 if abs(low) > 1024 else 1.0
        low, high = torch.tensor([low - apart, low + apart]).tolist()
    if not (high - low) * bins <= LARGEST:
        raise ValueError(f"min, max: expected a range whose product with bins fits float32, got {low} to {high} and {bins} bins")
    return low, high


def histogram(x: torch.Tensor, bins: int, min: float | None = None, max: float | None = None) -> torch.Tensor:
    """Count how many elements of `x` fall into each of `bins` equal bins, as `torch.histc` and `torch.bincount` do.

    Args:
        x: A tensor of any shape and strides; float32, float16 or bfloat16, or uint8, int32 or int64.
        bins: How many bins, from 1 to 16,777,216.
        min: For floats, the lower edge of the first bin. If neither edge is given they are the smallest and the largest
            element, as in `torch.histc`; finding them reads `x` once more and waits for the GPU.
        max: The upper edge of the last bin. Both edges, or neither.

    Returns:
        An int64 tensor of `bins` counts. Of floats, a bin holds its lower edge and not its upper one, which is the next
            one's; the last holds both. Elements outside the edges and NaN are not counted. Where the edges are equal,
            they are moved apart by one each, or by a thousandth of themselves where they are large. Of integers, bin b counts
            the elements equal to b, and what is below 0 or not below `bins` is not counted.

    Raises:
        TypeError: `x` is no tensor or has another dtype, `bins` is no int, or an edge is no number or was given for
            integers.
        ValueError: `bins` is out of range, only one edge was given, the edges are not finite or not in order, no edges
            were given and `x` holds NaN or an infinity, or a CPU tensor came while Triton's interpreter is off.

    Not differentiable: counts are integers.

    Bytes:
        For n elements of e bytes, ne read, and once more where the edges have to be found.

    Flops:
        About 4 for each float: a subtraction, a product, a division, a conversion.

    Source:
        The definition of `torch.histc`.
    """
    check_countable_tensor("x", x)
    check_count("bins", bins, 1, MOST_BINS)
    for name, edge in (("min", min), ("max", max)):
        if edge is not None and (not isinstance(edge, int | float) or isinstance(edge, bool)):
            raise TypeError(f"{name}: expected a number, got {type(edge).__name__}")
    if (min is None) != (max is None):
        raise ValueError(f"min, max: expected both or neither, got {min} and {max}")
    if min is not None and not x.is_floating_point():
        raise TypeError(f"min, max: expected neither for dtype {str(x.dtype).removeprefix('torch.')}, whose bins are its values")
    low, high = histogram_range(x, bins, min, max) if x.is_floating_point() else (0.0, 0.0)
    counts = torch.zeros(bins, dtype=torch.int64, device=x.device)
    if x.numel() > 0:
        with torch.cuda.device_of(x):
            histogram_flat(flattened(x.detach().resolve_neg()), counts, low, high)
    return counts


# --8<-- [start:reference]
def histogram_reference(x: torch.Tensor, bins: int, min: float | None = None, max: float | None = None) -> torch.Tensor:
    """The same operation in plain PyTorch, for edges apart from each other."""
    x = x.flatten()
    if not x.is_floating_point():
        x = x.long()
        return torch.bincount(x[(x >= 0) & (x < bins)], minlength=bins)
    x = x.float()
    low, high = torch.tensor([x.amin(), x.amax()] if min is None else [min, max], dtype=torch.float32).to(x.device)
    x = x[(x >= low) & (x <= high)]
    place = ((x - low) * bins).double() / (high - low).double()
    return torch.bincount(place.long().clamp(max=bins - 1), minlength=bins)
# --8<-- [end:reference]
