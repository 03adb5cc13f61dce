"""The exercise's solution: count what the programs of one wave need, for tiles of two shapes and groups of several heights."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:count]
import torch
import triton
import triton.language as tl

from kernels.matmul.epilogue import matmul_tile


@triton.jit
def places_kernel(
    out_ptr, M, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr, PROGRAMS: tl.constexpr,
):
    program = tl.arange(0, PROGRAMS)  # [PROGRAMS]
    pid_m, pid_n = matmul_tile(program, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    tl.store(out_ptr + program, pid_m)
    tl.store(out_ptr + PROGRAMS + program, pid_n)


def gigabytes(block_m: int, block_n: int, group_m: int, side: int = 8192) -> float:
    """What waves of 132 programs read of a and b, if each wave reads a block once."""
    programs = (side // block_m) * (side // block_n)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out = torch.empty(2, programs, dtype=torch.int32, device=device)
    places_kernel[(1,)](out, side, side, block_m, block_n, group_m, programs)
    pid_m, pid_n = out.tolist()
    sides = 0
    for first in range(0, programs, 132):
        wave = slice(first, first + 132)
        sides += block_m * len(set(pid_m[wave])) + block_n * len(set(pid_n[wave]))
    return sides * side * 2 / 1e9  # K numbers of two bytes along each side


groups = (1, 2, 4, 8, 16, 32)
print("GROUP_M          " + "".join(f"{group_m:6}" for group_m in groups))
#> GROUP_M               1     2     4     8    16    32
for block_m, block_n in ((128, 256), (256, 128), (128, 128)):
    found = [gigabytes(block_m, block_n, group_m) for group_m in groups]
    print(f"tiles of {block_m} x {block_n}" + "".join(f"{each:6.2f}" for each in found))
    #> tiles of 128 x 256  2.31  2.34  2.34  1.49  1.22  1.47
    #> tiles of 256 x 128  2.34  2.34  1.46  1.19  1.43  2.31
    #> tiles of 128 x 128  4.37  4.43  2.54  1.75  1.74  2.48
# --8<-- [end:count]
