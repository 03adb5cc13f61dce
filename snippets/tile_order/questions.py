"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.matmul.epilogue import matmul_tile


@triton.jit
def write_turn(turn_ptr, M, N, BLOCK: tl.constexpr, GROUP_M: tl.constexpr):
    row, column = matmul_tile(tl.program_id(0), M, N, BLOCK, BLOCK, GROUP_M)
    tl.store(turn_ptr + row * tl.cdiv(N, BLOCK) + column, tl.program_id(0))


def turns(rows, columns, group):
    turn = torch.full((rows, columns), -1, dtype=torch.int32, device="cuda" if torch.cuda.is_available() else "cpu")
    write_turn[(rows * columns,)](turn, 16 * rows, 16 * columns, BLOCK=16, GROUP_M=group)
    return turn


(place,) = (turns(8, 8, group=4) == 5).nonzero().tolist()
print(f"fifth: {tuple(place)}")

patches = {f"{rows} x {columns}": rows * 128 + columns * 256 for rows, columns in ((4, 8), (8, 4), (16, 2))}
print(f"patch: {min(patches, key=patches.get)}")

owners = [turns(6, 5, group).flatten().sort().values.tolist() for group in (1, 4, 16)]
print(f"result: {'same' if all(each == list(range(30)) for each in owners) else 'other'}")
