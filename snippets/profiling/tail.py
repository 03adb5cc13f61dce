"""One program more than fits at once, and the same work in smaller pieces."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch
import triton
import triton.language as tl

from kernels.tools.benchmark import keep, alternate, quantiles
from kernels.tools.roofline.limits import waves
from kernels.tools.roofline.measured import limits_of, resident_of


# --8<-- [start:kernel]
@triton.jit
def settle_kernel(x_ptr, y_ptr, n_steps, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    for _ in range(n_steps):
        x = 2.5 * x * (1 - x)
    tl.store(y_ptr + offsets, x)
# --8<-- [end:kernel]


multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
limits = limits_of(torch.cuda.current_device())
x = 0.1 + 0.8 * torch.rand((2 * multiprocessors + 8) * 2**15, device="cuda")
y = torch.empty_like(x)


def settled(programs, block, num_warps):
    return settle_kernel[(programs,)](x, y, 400, BLOCK=block, num_warps=num_warps)


def resident(block, num_warps):
    return resident_of(settled(1, block, num_warps), limits)[0]


# --8<-- [start:ways]
full = multiprocessors * resident(2**15, 32)  # as many large programs as run at once
WAYS = {
    "full": (full, 2**15, 32),
    "slow": (full + 1, 2**15, 32),
    "mended": (8 * (full + 1), 2**12, 4),  # as many elements, in pieces an eighth as large
}
# --8<-- [end:ways]
kept = {}
for name, times in zip(WAYS, alternate([lambda way=way: settled(*way) for way in WAYS.values()]), strict=True):
    programs, block, num_warps = WAYS[name]
    filled = waves(programs, multiprocessors, resident(block, num_warps))
    kept[name] = {"us": quantiles(times)[1] * 1e3, "programs": programs, "waves": filled}
    print(f"{name:8}{programs:6} programs of {block:6,}: {filled:5.2f} waves{kept[name]['us']:9.1f} us")
settled(full + 1, 2**15, 32)
torch.testing.assert_close(y[: (full + 1) * 2**15], torch.full_like(y[: (full + 1) * 2**15], 0.6), rtol=1e-3, atol=1e-3)
keep(figures=kept | {"multiprocessors": multiprocessors})
