"""A program stores a tile and loads it again in another order: with a barrier in between, and without one."""
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import JITFunction, driver

from kernels.benchmark import keep

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


class NoGPU:
    """Stands in for a GPU's driver: names the GPU to compile for, an H200."""

    get_current_target = staticmethod(lambda: GPUTarget("cuda", 90, 32))
    get_current_device = get_current_stream = staticmethod(lambda *_: 0)


def compile_only(kernel, *arguments, **options):
    """Compile a kernel as a launch with these arguments would, and launch nothing."""
    if not torch.cuda.is_available():
        driver.set_active(NoGPU())
    return JITFunction(kernel.fn).warmup(*arguments, grid=(1,), **options)


# --8<-- [start:race]
@triton.jit
def turn_tile_kernel(x_ptr, out_ptr, SIDE: tl.constexpr):
    i = tl.arange(0, SIDE)
    by_rows = i[:, None] * SIDE + i[None, :]  # [SIDE, SIDE]
    tl.store(out_ptr + by_rows, tl.trans(tl.load(x_ptr + by_rows)))


@triton.jit
def there_and_back_kernel(
    x_ptr, scratch_ptr, out_ptr, BARRIER: tl.constexpr, SIDE: tl.constexpr
):
    first = tl.program_id(0) * SIDE * SIDE
    i = tl.arange(0, SIDE)
    by_rows = first + i[:, None] * SIDE + i[None, :]  # [SIDE, SIDE]
    by_columns = first + i[None, :] * SIDE + i[:, None]  # [SIDE, SIDE]
    tl.store(scratch_ptr + by_rows, tl.load(x_ptr + by_rows))
    if BARRIER:
        tl.debug_barrier()
    tl.store(out_ptr + by_columns, tl.load(scratch_ptr + by_columns))


x = torch.float32
turned = compile_only(turn_tile_kernel, x, x, SIDE=64)
unsafe = compile_only(there_and_back_kernel, x, x, x, BARRIER=False, SIDE=64)
safe = compile_only(there_and_back_kernel, x, x, x, BARRIER=True, SIDE=64)
print(*(kernel.asm["ptx"].count("bar.sync") for kernel in (turned, unsafe, safe)))
#> 1 0 1
# --8<-- [end:race]


def wrong(side: int, warps: int, barrier: bool) -> int:
    """Of 4096 tiles, the number that did not come out as they went in."""
    x = torch.randn(4096, side, side, device="cuda")
    scratch, out = torch.zeros_like(x), torch.zeros_like(x)
    there_and_back_kernel[(4096,)](x, scratch, out, BARRIER=barrier, SIDE=side, num_warps=warps)
    return int((out != x).flatten(1).any(dim=1).sum())


if torch.cuda.is_available():
    found = {}
    for side, warps in ((16, 4), (32, 4), (64, 4), (64, 8), (128, 8)):
        without, held = wrong(side, warps, barrier=False), wrong(side, warps, barrier=True)
        print(f"tiles of {side} x {side}, {warps} warps: {without} of 4096 wrong without the barrier, {held} with it")
        found[f"side_{side}_warps_{warps}"] = without
        assert held == 0
    keep(figures=found)
