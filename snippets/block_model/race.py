"""A program stores a block and loads it again one lane further: with barriers in between, and without."""
# --8<-- [start:torch]
import torch
# --8<-- [end:torch]
# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]

from kernels.tools.benchmark import keep
# --8<-- [start:compile_only]
from kernels.tools.compile_only import compile_only
# --8<-- [end:compile_only]

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:race]
@triton.jit
def turn_tile_kernel(x_ptr, out_ptr, SIDE: tl.constexpr):
    i = tl.arange(0, SIDE)
    by_rows = i[:, None] * SIDE + i[None, :]  # [SIDE, SIDE]
    tl.store(out_ptr + by_rows, tl.trans(tl.load(x_ptr + by_rows)))


@triton.jit
def pass_on_kernel(
    x_ptr, out_ptr,
    ROUNDS: tl.constexpr, BLOCK: tl.constexpr, SAFE: tl.constexpr,
):
    i = tl.arange(0, BLOCK)
    own = out_ptr + tl.program_id(0) * BLOCK  # this program's part of the output
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    for _ in range(ROUNDS):
        tl.store(own + i, x)
        if SAFE:
            tl.debug_barrier()
        x = tl.load(own + (i + 1) % BLOCK)  # what another lane has stored
        if SAFE:
            tl.debug_barrier()
    tl.store(own + i, x)


f = torch.float32
turned = compile_only(turn_tile_kernel, f, f, SIDE=64)
sizes = {"ROUNDS": 100, "BLOCK": 1024, "num_warps": 32}
unsafe = compile_only(pass_on_kernel, f, f, SAFE=False, **sizes)
safe = compile_only(pass_on_kernel, f, f, SAFE=True, **sizes)
print([kernel.asm["ptx"].count("bar.sync") for kernel in (turned, unsafe, safe)])
#> [1, 0, 2]
# --8<-- [end:race]


def wrong(rounds: int, warps: int, safe: bool) -> int:
    """Of 1000 programs, the number whose lanes are not what `rounds` turns should make of them."""
    x = torch.randn(1000, 32 * warps, device="cuda")
    out = torch.zeros_like(x)
    pass_on_kernel[(1000,)](x, out, ROUNDS=rounds, BLOCK=32 * warps, SAFE=safe, num_warps=warps)
    return int((out != x.roll(-rounds, dims=1)).any(dim=1).sum())


if torch.cuda.is_available():
    found = {}
    for warps in (4, 8, 16, 32):
        for rounds in (1, 10, 100):
            without, held = wrong(rounds, warps, safe=False), wrong(rounds, warps, safe=True)
            print(f"{warps:2} warps, {rounds:3} rounds: {without:4} of 1000 programs wrong without barriers, {held} with them")
            found[f"warps_{warps}_rounds_{rounds}"] = without
            assert held == 0
    keep(figures=found)
