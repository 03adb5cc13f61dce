"""Ask a kernel's own index function which program has which tile of c, for several heights of a group."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.benchmark import keep

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

# --8<-- [start:order]
from kernels.matmul.epilogue import matmul_tile


@triton.jit
def tile_order_kernel(
    turn_ptr, M, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr,
):
    # A program that multiplies nothing: it only writes its number on its tile.
    turn = tl.program_id(0)
    pid_m, pid_n = matmul_tile(turn, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    tl.store(turn_ptr + pid_m * tl.cdiv(N, BLOCK_N) + pid_n, turn)


def turns(M: int, N: int, block_m: int, block_n: int, group_m: int) -> torch.Tensor:
    """Which program has each tile of c."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shape = triton.cdiv(M, block_m), triton.cdiv(N, block_n)
    turn = torch.full(shape, -1, dtype=torch.int32, device=device)
    grid = (turn.numel(),)
    sides = {"BLOCK_M": block_m, "BLOCK_N": block_n, "GROUP_M": group_m}
    tile_order_kernel[grid](turn, M, N, **sides)
    return turn.cpu()


lines = []
for group_m in (1, 4):
    lines.append(f"GROUP_M = {group_m}")
    for row in turns(M=700, N=600, block_m=128, block_n=128, group_m=group_m):
        lines.append(" ".join(f"{turn:2}" for turn in row.tolist()))
for line in lines:
    print(line)
    #> GROUP_M = 1
    #>  0  1  2  3  4
    #>  5  6  7  8  9
    #> 10 11 12 13 14
    #> 15 16 17 18 19
    #> 20 21 22 23 24
    #> 25 26 27 28 29
    #> GROUP_M = 4
    #>  0  4  8 12 16
    #>  1  5  9 13 17
    #>  2  6 10 14 18
    #>  3  7 11 15 19
    #> 20 22 24 26 28
    #> 21 23 25 27 29
# --8<-- [end:order]

# The picture of the page: tiles of 128 by 256 in a product of 8192 by 8192 by 8192, and the order of each setting as the
# numbers of the tiles, counted row by row.
side, block_m, block_n = 8192, 128, 256
orders = {}
for group_m in (1, 2, 4, 8, 16, 32):
    turn = turns(side, side, block_m, block_n, group_m)
    assert turn.flatten().sort().values.tolist() == list(range(turn.numel()))  # each tile has one program
    orders[str(group_m)] = " ".join(map(str, turn.flatten().argsort().tolist()))
sizes = {"rows": side // block_m, "columns": side // block_n, "K": side, "BLOCK_M": block_m, "BLOCK_N": block_n}
keep(figures={**sizes, "orders": orders})
