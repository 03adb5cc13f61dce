"""The kernels of `kernels.group_norm`: statistics over some channels of a sample, a scale and a shift for each channel.

    n = (x - mean) * rstd,    y = n * weight[channel] + bias[channel]
    g = dy * weight[channel],    dx = (g - mean(g) - n * mean(g * n)) * rstd

A group's channels lie together, so its numbers are one row of memory. A tile of it is [channels, places]: what belongs to a
channel is loaded once a tile, and no index is divided.
"""

import torch
import triton
import triton.language as tl

from kernels.common.sizes import next_power_of_2

GROUP_TILE = 4096  # elements at a time; a group that is no longer stays on chip
GROUP_WHOLE = 8192


@triton.jit
def group_tile(channel, place, n_channels, size, BLOCK_C: tl.constexpr, BLOCK_S: tl.constexpr):
    """Channels of a tile within the group, its offsets, and its masks."""
    channels = channel + tl.arange(0, BLOCK_C)  # [BLOCK_C]
    places = place + tl.arange(0, BLOCK_S)  # [BLOCK_S]
    channel_mask = channels < n_channels  # [BLOCK_C]
    mask = channel_mask[:, None] & (places < size)[None, :]  # [BLOCK_C, BLOCK_S]
    offsets = channels.to(tl.int64)[:, None] * size + places[None, :]  # [BLOCK_C, BLOCK_S]
    return channels, channel_mask, offsets, mask


@triton.jit
def group_norm_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    mean_ptr,
    rstd_ptr,
    n_groups,
    n_channels,
    size,
    eps,
    BLOCK_C: tl.constexpr,
    BLOCK_S: tl.constexpr,
    WHOLE: tl.constexpr,
):
    # This program owns one group of one sample: n_channels channels of `size` places.
    row = tl.program_id(0).to(tl.int64)
    first = (row % n_groups) * n_channels  # the group's first channel
    x_ptr += row * n_channels * size
    y_ptr += row * n_channels * size
    total = n_channels * 1.0 * size
    mean, spread = 0.0, 0.0
    if WHOLE:
        channels, channel_mask, offsets, mask = group_tile(0, 0, n_channels, size, BLOCK_C, BLOCK_S)
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)  # [BLOCK_C, BLOCK_S]
        mean = tl.sum(x) / total
        centered = tl.where(mask, x - mean, 0.0)  # [BLOCK_C, BLOCK_S]
        spread = tl.sum(centered * centered)
    else:
        seen = 0.0
        for channel in range(0, n_channels, BLOCK_C):
            for place in range(0, size, BLOCK_S):
                channels, channel_mask, offsets, mask = group_tile(channel, place, n_channels, size, BLOCK_C, BLOCK_S)
                x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)  # [BLOCK_C, BLOCK_S]
                # The tile's own mean and spread, joined with those of all before it.
                count = (tl.minimum(n_channels - channel, BLOCK_C) * tl.minimum(size - place, BLOCK_S)).to(tl.float32)
                tile_mean = tl.sum(x) / count
                centered = tl.where(mask, x - tile_mean, 0.0)  # [BLOCK_C, BLOCK_S]
                apart = tile_mean - mean
                part = count / (seen + count)
                mean += apart * part
                spread += tl.sum(centered * centered) + apart * apart * seen * part
                seen += count
    rstd = tl.rsqrt(spread / total + eps)
    if mean_ptr is not None:
        tl.store(mean_ptr + row, mean)
        tl.store(rstd_ptr + row, rstd)
    for channel in range(0, n_channels, BLOCK_C):
        for place in range(0, size, BLOCK_S):
            channels, channel_mask, offsets, mask = group_tile(channel, place, n_channels, size, BLOCK_C, BLOCK_S)
            if not WHOLE:
                x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
            y = (x - mean) * rstd  # [BLOCK_C, BLOCK_S]
            if weight_ptr is not None:
                y *= tl.load(weight_ptr + first + channels, mask=channel_mask, other=0.0).to(tl.float32)[:, None]
            if bias_ptr is not None:
                y += tl.load(bias_ptr + first + channels, mask=channel_mask, other=0.0).to(tl.float32)[:, None]
            tl.store(y_ptr + offsets, y, mask=mask)


@triton.jit
def group_norm_backward_kernel(
    x_ptr,
    weight_ptr,
    dy_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    dweight_ptr,
    dbias_ptr,
    n_groups,
    n_channels,
    size,
    BLOCK_C: tl.constexpr,
    BLOCK_S: tl.constexpr,
):
    # This program owns one group of one sample, and one number of each channel's two sums for that sample.
    row = tl.program_id(0).to(tl.int64)
    first = (row % n_groups) * n_channels
    x_ptr += row * n_channels * size
    dy_ptr += row * n_channels * size
    dx_ptr += row * n_channels * size
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    sum_g, sum_gn = 0.0, 0.0
    for channel in range(0, n_channels, BLOCK_C):
        products = tl.zeros([BLOCK_C, BLOCK_S], tl.float32)  # added up over the places when the walk ends
        arrived = tl.zeros([BLOCK_C, BLOCK_S], tl.float32)
        for place in range(0, size, BLOCK_S):
            channels, channel_mask, offsets, mask = group_tile(channel, place, n_channels, size, BLOCK_C, BLOCK_S)
            x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)  # [BLOCK_C, BLOCK_S]
            dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)  # zero where there is nothing
            products += dy * ((x - mean) * rstd)
            arrived += dy
        dweight, dbias = tl.sum(products, axis=1), tl.sum(arrived, axis=1)  # [BLOCK_C]
        channels = channel + tl.arange(0, BLOCK_C)  # [BLOCK_C]
        channel_mask = channels < n_channels
        weight = tl.full([BLOCK_C], 1.0, tl.float32)
        if weight_ptr is not None:
            weight = tl.load(weight_ptr + first + channels, mask=channel_mask, other=0.0).to(tl.float32)
        sum_g += tl.sum(dbias * weight)
        sum_gn += tl.sum(dweight * weight)
        if dweight_ptr is not None:
            tl.store(dweight_ptr + row * n_channels + channels, dweight, mask=channel_mask)
            tl.store(dbias_ptr + row * n_channels + channels, dbias, mask=channel_mask)
    total = n_channels * 1.0 * size
    mean_g, mean_gn = sum_g / total, sum_gn / total
    for channel in range(0, n_channels, BLOCK_C):
        for place in range(0, size, BLOCK_S):
            channels, channel_mask, offsets, mask = group_tile(channel, place, n_channels, size, BLOCK_C, BLOCK_S)
            n = (tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32) - mean) * rstd  # [BLOCK_C, BLOCK_S]
            g = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)  # [BLOCK_C, BLOCK_S]
            if weight_ptr is not None:
                g *= tl.load(weight_ptr + first + channels, mask=channel_mask, other=0.0).to(tl.float32)[:, None]
            tl.store(dx_ptr + offsets, (g - mean_g - n * mean_gn) * rstd, mask=mask)


def group_tile_sizes(n_channels: int, size: int) -> tuple[int, int, bool]:
    """Channels and places of a tile, and whether it is the whole group."""
    whole = next_power_of_2(n_channels) * next_power_of_2(size) <= GROUP_WHOLE
    places = next_power_of_2(size) if whole else min(next_power_of_2(size), GROUP_TILE)
    return next_power_of_2(n_channels) if whole else min(next_power_of_2(n_channels), GROUP_TILE // places), places, whole


def group_warps(n_channels: int, size: int) -> int:
    block_c, block_s, _ = group_tile_sizes(n_channels, size)
    return max(1, min(8, block_c * block_s // 512))


def group_norm_launch(x, weight, bias, y, mean, rstd, groups: int = 32, eps: float = 1e-5) -> None:
    """Launch for tensors that are contiguous; `mean` and `rstd` get a number for each group of each sample, or are None."""
    samples, channels = x.shape[:2]
    size, each = x.numel() // (samples * channels), channels // groups
    block_c, block_s, whole = group_tile_sizes(each, size)
    group_norm_kernel[(samples * groups,)](
        *(x, weight, bias, y, mean, rstd, groups, each, size, eps),
        BLOCK_C=block_c, BLOCK_S=block_s, WHOLE=whole, num_warps=group_warps(each, size),
    )  # fmt: skip


def group_norm_backward_launch(x, weight, dy, mean, rstd, dx, groups: int = 32, sums: bool = True) -> torch.Tensor | None:
    """Launch the way back; with `sums`, returns what each sample adds to the gradients of weight and bias: [2, N, C]."""
    samples, channels = x.shape[:2]
    size, each = x.numel() // (samples * channels), channels // groups
    block_c, block_s, _ = group_tile_sizes(each, size)
    parts = x.new_empty(2, samples, channels, dtype=torch.float32) if sums else None
    dweight, dbias = parts if parts is not None else (None, None)
    group_norm_backward_kernel[(samples * groups,)](
        *(x, weight, dy, mean, rstd, dx, dweight, dbias, groups, each, size),
        BLOCK_C=block_c, BLOCK_S=block_s, num_warps=group_warps(each, size),
    )  # fmt: skip
    return parts
