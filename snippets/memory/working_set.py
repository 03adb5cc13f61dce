"""Read a buffer over and over, and copy one over and over: how fast, from 1 MB to 4 GB?"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark


# --8<-- [start:kernel]
@triton.jit
def reread_kernel(x_ptr, sums_ptr, n_blocks, n_steps, BLOCK: tl.constexpr):
    pid, programs = tl.program_id(0), tl.num_programs(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(n_steps):
        block = (pid + step * programs) % n_blocks  # at the end, start again
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, cache_modifier=".cg")  # past L1
    tl.store(sums_ptr + pid, tl.sum(total, axis=0))
# --8<-- [end:kernel]


@triton.jit
def recopy_kernel(x_ptr, y_ptr, n_blocks, n_steps, BLOCK: tl.constexpr):
    pid, programs = tl.program_id(0), tl.num_programs(0)
    for step in range(n_steps):
        offsets = (pid + step * programs) % n_blocks * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, cache_modifier=".cg"), cache_modifier=".cg")


MB, BLOCK = 10**6, 4096
benchmark = Benchmark()
programs = 8 * torch.cuda.get_device_properties(0).multi_processor_count
steps = triton.cdiv(8 * 2**30, programs * BLOCK * 4)  # 8 GiB pass in every call, whatever the size of the buffer
pids = torch.arange(programs, device="cuda")[:, None] + programs * torch.arange(steps, device="cuda")
for size in (1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 96, 128, 256, 1024, 4096):
    n_blocks = size * MB // (BLOCK * 4)
    x = torch.randn(n_blocks * BLOCK, device="cuda")
    sums = torch.empty(programs, device="cuda")

    def read(x=x, sums=sums, n_blocks=n_blocks):
        reread_kernel[(programs,)](x, sums, n_blocks, steps, BLOCK=BLOCK, num_warps=8)
        return sums

    expected = x.view(n_blocks, BLOCK).double().sum(1)[pids % n_blocks].sum(1)
    moved = steps * programs * BLOCK * 4
    benchmark.case("working_set_read", "fwd", f"{size}", x.dtype, moved, None, {"blockwise": read}, expected)
for size in (2, 8, 16, 24, 32, 40, 48, 64, 128, 1024, 4096):
    n_blocks = size * MB // (BLOCK * 8)  # half of it is read, half written
    x = torch.randn(n_blocks * BLOCK, device="cuda")
    y = torch.empty_like(x)

    def copy(x=x, y=y, n_blocks=n_blocks):
        recopy_kernel[(programs,)](x, y, n_blocks, steps // 2, BLOCK=BLOCK, num_warps=8)
        return y

    moved = steps // 2 * programs * BLOCK * 8
    benchmark.case("working_set_copy", "fwd", f"{size}", x.dtype, moved, None, {"blockwise": copy}, x)
benchmark.finish()
