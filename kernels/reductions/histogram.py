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

from kernels.common.arguments import check_count, check_countable_tensor, on_device_of
from kernels.common.sizes import next_power_of_2
from kernels.reductions.plan import nearest

MOST_BINS = 2**22  # beyond it float32 cannot number the bins and their halves
LOCAL_BINS = 512
LARGEST = torch.finfo(torch.float32).max


@triton.jit
def histogram_bins_kernel(
    x_ptr,
    counts_ptr,
    x_stride,
    low,
    high,
    n_elements,
    n_bins,
    n_copies,
    BINS: tl.constexpr,
    BLOCK: tl.constexpr,
    LOCAL: tl.constexpr,
):
    # This program owns every num_programs-th block.
    pid = tl.program_id(0).to(tl.int64)
    counts = tl.zeros([BINS], tl.int32)
    counts_ptr += pid % n_copies * n_bins
    width = high - low
    per_width = 1.0 / width
    ROUND: tl.constexpr = 2.0**23  # a float32 to which this is added keeps no fraction
    for start in range(pid * BLOCK, n_elements, tl.num_programs(0).to(tl.int64) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)  # [BLOCK]
        mask = offsets < n_elements  # [BLOCK]
        x = tl.load(x_ptr + offsets * x_stride, mask=mask, other=0, eviction_policy="evict_first")
        if x.dtype.is_int():
            inside = mask & (x.to(tl.int64) >= 0) & (x.to(tl.int64) < n_bins)  # [BLOCK]
            bins = tl.where(inside, x, 0).to(tl.int32)  # [BLOCK]
        else:
            x = x.to(tl.float32)
            inside = mask & (x >= low) & (x <= high)  # [BLOCK]
            place = (x - low) * n_bins  # [BLOCK]
            near = (place * per_width + ROUND) - ROUND  # [BLOCK]
            # That is the nearest number and not always the one below. The remainder, exact in a fused multiply-add, tells.
            near -= tl.where(tl.fma(-near, width, place) < 0, 1.0, 0.0)
            near = tl.minimum(near, n_bins - 1.0)
            bins = tl.where(inside, near, 0.0).to(tl.int32)  # [BLOCK]
        if LOCAL:
            counts += tl.histogram(bins, BINS, mask=inside)
        else:
            tl.atomic_add(counts_ptr + bins, tl.full([BLOCK], 1, tl.int64), mask=inside, sem="relaxed")
    if LOCAL:
        places = tl.arange(0, BINS)  # [BINS]
        tl.atomic_add(counts_ptr + places, counts.to(tl.int64), mask=places < n_bins, sem="relaxed")


def histogram_flat(x: torch.Tensor, counts: torch.Tensor, low: float, high: float) -> torch.Tensor:
    """Add to `counts`, one row of bins or several that share the atomics, the elements of the one-dimensional `x`."""
    n_copies, n_bins = counts.shape
    local = n_bins <= LOCAL_BINS
    block, programs, num_warps = (4096, 1056, 4 if n_bins <= 64 else 8) if local else (512, 4224, 4)
    grid = (min(programs, -(-x.shape[0] // block)),)
    width = next_power_of_2(n_bins if n_bins > 32 else 32) if local else 1
    meta = {"BINS": width, "BLOCK": block, "LOCAL": local, "num_warps": num_warps}
    histogram_bins_kernel[grid](x, counts, x.stride(0), low, high, x.shape[0], n_bins, n_copies, **meta)
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

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([0.5, 1.2, 1.9, 3.0], device=device)
        print(kernels.histogram(x, bins=3, min=0, max=3).tolist())
        #> [1, 2, 1]
        print(kernels.histogram(torch.tensor([2, 0, 2], device=device), bins=3).tolist())
        #> [1, 0, 2]
        ```

    Args:
        x: A tensor of any shape and strides; float32, float16 or bfloat16, or uint8, int32 or int64.
        bins: How many bins, from 1 to 4,194,304.
        min: For floats, the lower edge of the first bin. If neither edge is given they are the smallest and the largest
            element, as in `torch.histc`; finding them reads `x` once more and waits for the GPU. (`torch.histc` also
            finds them where two equal edges are given; here those are taken at their word.)
        max: The upper edge of the last bin. Both edges, or neither.

    Returns:
        An int64 tensor of `bins` counts. Of floats, a bin holds its lower edge and not its upper one, which is the next
            one's; the last holds both. Elements outside the edges and NaN are not counted. Where the edges are equal,
            they are moved apart by one each, or by a thousandth of themselves where they are large. Of integers, bin b counts
            the elements equal to b, and what is below 0 or not below `bins` is not counted.

    Raises:
        TypeError: `x` is not a tensor or has another dtype, `bins` is not an int, or an edge is not a number or was given for
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
    low, high = histogram_range(x, bins, min, max) if x.is_floating_point() else (0.0, 1.0)
    copies = 1 if bins <= LOCAL_BINS or x.numel() < 2**20 else 128 if bins <= 8192 else 16 if bins <= 2**17 else 1
    counts = torch.zeros((copies, bins), dtype=torch.int64, device=x.device)
    if x.numel() > 0:
        x = x.detach().resolve_neg()
        dims = nearest(list(zip(x.shape, x.stride(), strict=True))) or [(1, 1)]
        flat = x.as_strided((dims[0][0],), (dims[0][1],)) if len(dims) == 1 else x.reshape(-1)
        with on_device_of(x):
            histogram_flat(flat, counts, low, high)
    return counts[0] if copies == 1 else counts.sum(0)


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
