"""Rows too long for the chip: three walks along a row, and two with a sum that is rescaled."""
# counters: row three_walks online blockwise
import os
import sys

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark
from kernels.softmax import softmax
from kernels.softmax.softmax import softmax_row


# --8<-- [start:three]
@triton.jit
def three_walks_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row_start = tl.program_id(0).to(tl.int64) * n_columns
    peaks = tl.full([BLOCK], -float("inf"), tl.float32)
    totals = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)  # [BLOCK]
        mask = columns < n_columns
        x = tl.load(x_ptr + row_start + columns, mask=mask, other=-float("inf"))
        peaks = tl.maximum(peaks, x.to(tl.float32))
    m = tl.max(peaks, axis=0)
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        x = tl.load(x_ptr + row_start + columns, mask=mask, other=-float("inf"))
        totals += tl.exp(x.to(tl.float32) - m)
    s = tl.sum(totals, axis=0)
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        x = tl.load(x_ptr + row_start + columns, mask=mask)
        y = tl.exp(x.to(tl.float32) - m) / s
        tl.store(y_ptr + row_start + columns, y, mask=mask)
# --8<-- [end:three]


# --8<-- [start:online]
@triton.jit
def online_softmax_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row_start = tl.program_id(0).to(tl.int64) * n_columns
    m = -float("inf")
    s = 0.0
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)  # [BLOCK]
        mask = columns < n_columns
        x = tl.load(x_ptr + row_start + columns, mask=mask, other=-float("inf"))
        x = x.to(tl.float32)
        new_m = tl.maximum(m, tl.max(x, axis=0))
        s = s * tl.exp(m - new_m) + tl.sum(tl.exp(x - new_m), axis=0)
        m = new_m
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        x = tl.load(x_ptr + row_start + columns, mask=mask)
        y = tl.exp(x.to(tl.float32) - m) / s
        tl.store(y_ptr + row_start + columns, y, mask=mask)
# --8<-- [end:online]


# --8<-- [start:check]
def walk(kernel, x, block, num_warps=4):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=block, num_warps=num_warps)
    return y


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(3, 10_000, device=device)
for kernel in (three_walks_kernel, online_softmax_kernel):
    y = walk(kernel, x, block=1024)
    torch.testing.assert_close(y, torch.softmax(x, dim=-1))
print("both agree with PyTorch")
#> both agree with PyTorch
# --8<-- [end:check]

if device == "cuda":
    torch.manual_seed(0)
    x = torch.randn(512, 131072, device="cuda").bfloat16()
    ways = {
        "row": lambda: softmax_row(x, torch.empty_like(x)),
        "three_walks": lambda: walk(three_walks_kernel, x, 16384, 32),
        "online": lambda: walk(online_softmax_kernel, x, 16384, 32),
        "blockwise": lambda: softmax(x),
    }
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        ways[sys.argv[1]]()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        ways[sys.argv[1]]()
        torch.cuda.profiler.stop()
    else:
        benchmark = Benchmark()
        ways["eager"] = lambda: torch.softmax(x, dim=-1)
        expected = torch.softmax(x.double(), dim=-1)
        benchmark.case("softmax_ladder", "fwd", "512x131072", x.dtype, 2 * x.nbytes, 5 * x.numel(), ways, expected)
        benchmark.finish()
