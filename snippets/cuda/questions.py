"""What the questions of the lesson ask, compiled or worked out: each line is the answer to one."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


@triton.jit
def add_up_row(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_columns + columns, mask=columns < n_columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


@triton.jit
def store_then_reverse(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.load(x_ptr + lanes))
    tl.store(x_ptr + lanes, tl.load(out_ptr + BLOCK - 1 - lanes))


x = torch.empty(64 * 4096)


def row_sum(n_columns, num_warps=8):
    return compile_only(add_up_row, x, x, n_columns, BLOCK=4096, num_warps=num_warps)


print(f"shared: {row_sum(4096).metadata.shared}")

wide = [n for n in (4096, 4000, 3999) if "ld.global.v4" in row_sum(n).asm["ptx"]]
print(f"wide: {'16' if wide == [4096, 4000] else 'power' if wide == [4096] else wide}")

print(f"barriers: {compile_only(store_then_reverse, x, x, BLOCK=1024).asm['ptx'].count('bar.sync')}")
