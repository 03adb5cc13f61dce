"""One product with the tensor cores and without, and the instructions that tell."""
# needs: cuda
# counters: ieee tf32 bf16
# counters-also: everything
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

import re

from kernels.tools.benchmark import keep
from snippets.profiling.beside import beside


# --8<-- [start:kernel]
@triton.jit
def square_product_kernel(a_ptr, b_ptr, c_ptr, n, HOW: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    c = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, n, STEP):
        steps = start + tl.arange(0, STEP)
        a = tl.load(a_ptr + rows[:, None] * n + steps[None, :])
        b = tl.load(b_ptr + steps[:, None] * n + columns[None, :])
        c = tl.dot(a, b, c, input_precision=HOW)
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], c)
# --8<-- [end:kernel]


# --8<-- [start:ways]
n = 4096
a, b = torch.randn(2, n, n, device="cuda").unbind()
short_a, short_b = a.bfloat16(), b.bfloat16()
c = torch.empty_like(a)


def multiplied(a, b, how):
    return square_product_kernel[(n // 64, n // 64)](a, b, c, n, HOW=how, TILE=64, STEP=32)


WAYS = {"ieee": (a, b, "ieee"), "tf32": (a, b, "tf32"), "bf16": (short_a, short_b, "tf32")}
# --8<-- [end:ways]
ways = {name: lambda way=way: (multiplied(*way), c)[1] for name, way in WAYS.items()}
found = beside(ways, a.double() @ b.double(), 3 * a.nbytes, tolerance=1e-2)
for name, way in WAYS.items():
    ptx = multiplied(*way).asm["ptx"]
    seen = re.findall(r"\b(?:mma\.sync|wgmma\.mma_async|tcgen05\.mma)", ptx)
    tflops = 2 * n**3 / found[name]["us"] / 1e6
    found[name] |= {"tflops": tflops, "instruction": seen[0] if seen else "none", "fma": ptx.count("fma.rn.f32")}
    instruction = seen[0] if seen else "no tensor cores"
    print(f"{name:12}{tflops:7.0f} TFLOP/s, {instruction}, {found[name]['fma']} times fma.rn.f32")
keep(figures=found)
