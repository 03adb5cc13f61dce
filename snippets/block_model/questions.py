"""What the questions of the lesson ask, compiled or worked out: each line is the answer to one."""
import re

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


@triton.jit
def add_one(x_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)


@triton.jit
def add_shapes(out_ptr):
    table = tl.arange(0, 16) + tl.arange(0, 16)[:, None]
    tl.store(out_ptr + table, table)


x = torch.empty(4096)
compiled = [compile_only(add_one, x, n, BLOCK=1024) for n in (4096, 4097, 8192, 1)]
print(f"variants: {len({each.hash for each in compiled})}")

block = 2048
print(f"lanes: {block // (32 * compile_only(add_one, x, 4096, BLOCK=block).metadata.num_warps)}")

stored = re.search(r"tt.store .*tensor<([\dx]+)x!", compile_only(add_shapes, torch.empty(64, dtype=torch.int32)).asm["ttir"])
print(f"shape: {[int(side) for side in stored[1].split('x')]}")
