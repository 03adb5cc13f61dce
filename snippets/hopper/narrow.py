"""A product of 16 rows, straight and turned round: which instruction multiplies, and what each takes."""
# counters: straight turned eager
# counters-also: everything
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.benchmark import Benchmark, keep
from kernels.tools.compile_only import compile_only
from kernels.matmul import matmul

# --8<-- [start:imports]
import re

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import JITFunction, driver
from triton.tools.tensor_descriptor import TensorDescriptor
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def few_rows_kernel(
    a_desc, b_desc, c_ptr, M, N, K,
    TRANSPOSED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # This program owns COLUMNS columns of c, in all of its rows.
    column = tl.program_id(0) * COLUMNS
    total = tl.full((COLUMNS, ROWS) if TRANSPOSED else (ROWS, COLUMNS), 0.0, tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_desc.load([0, k])  # [ROWS, BLOCK_K]
        b = b_desc.load([k, column])  # [BLOCK_K, COLUMNS]
        if TRANSPOSED:
            total = tl.dot(b.T, a.T, total)  # [COLUMNS, ROWS]
        else:
            total = tl.dot(a, b, total)  # [ROWS, COLUMNS]
    c = total.T if TRANSPOSED else total  # [ROWS, COLUMNS]
    rows, columns = tl.arange(0, ROWS), column + tl.arange(0, COLUMNS)  # [ROWS], [COLUMNS]
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(c_ptr + rows[:, None].to(tl.int64) * N + columns[None, :], c, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:compile]
def few_rows_arguments(a, b, c):
    """Both matrices as descriptors: 16 rows of a, and 64 columns of b, for 256 terms each."""
    a_desc = TensorDescriptor(a, list(a.shape), list(a.stride()), [16, 256])
    b_desc = TensorDescriptor(b, list(b.shape), list(b.stride()), [256, 64])
    return a_desc, b_desc, c, a.shape[0], b.shape[1], a.shape[1]


few_sides = {"ROWS": 16, "COLUMNS": 64, "BLOCK_K": 256, "num_warps": 4, "num_stages": 4}
device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randint(-4, 5, (10, 512), device=device).half()
b = torch.randint(-4, 5, (512, 200), device=device).half()
c = torch.empty(10, 200, device=device).half()
expected = (a.float() @ b.float()).half()
for turned in (False, True):
    few_rows_kernel[(triton.cdiv(200, 64),)](*few_rows_arguments(a, b, c), TRANSPOSED=turned, **few_sides)
    compiled = compile_only(few_rows_kernel, *few_rows_arguments(a, b, c), TRANSPOSED=turned, **few_sides)
    found = re.findall(r"(mma\.sync|wgmma\.mma_async)\S*?(m\d+n\d+k\d+)", compiled.asm["ptx"])
    print("turned:" if turned else "straight:", torch.equal(c, expected), *set(found))
    #> straight: True ('mma.sync', 'm16n8k16')
    #> turned: True ('wgmma.mma_async', 'm64n16k16')
# --8<-- [end:compile]


def product(a, b, turned):
    c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    few = few_rows_arguments(a, b, c)
    few_rows_kernel[(triton.cdiv(b.shape[1], 64),)](*few, TRANSPOSED=turned, **few_sides)
    return c


if device == "cuda" and torch.cuda.get_device_capability() == (9, 0):
    torch.manual_seed(0)
    a = torch.randn(16, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    ways = {
        "straight": lambda: product(a, b, False),
        "turned": lambda: product(a, b, True),
        "blockwise_nn": lambda: matmul(a, b),
        "eager": lambda: a @ b,
    }
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        ways[sys.argv[1]]()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        ways[sys.argv[1]]()
        torch.cuda.profiler.stop()
    else:
        benchmark, failed, expected = Benchmark(), {}, a.double() @ b.double()
        for name in list(ways):
            try:
                off = int((~torch.isclose(ways[name]().double(), expected, rtol=1e-2, atol=0.5)).sum())
                failed |= {name: f"{off} elements are wrong"} if off else {}
            except Exception as error:
                failed[name] = f"{type(error).__name__}: {error}"[:200]
        ways = {name: way for name, way in ways.items() if name not in failed}
        moved, flops = a.nbytes + b.nbytes + 16 * 8192 * 2, 2 * 16 * 8192 * 8192
        benchmark.case("narrow", "fwd", "16x8192x8192", a.dtype, moved, flops, ways, expected)
        print("failed:", failed or "none")
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"failed": failed})
