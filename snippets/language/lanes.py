"""Operations in which lanes meet: reductions, scans, sorting."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:lanes]
import torch
import triton
import triton.language as tl


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def lanes_kernel(x_ptr, out_ptr):
    i = tl.arange(0, 8)
    x = tl.load(x_ptr + i)  # [8]
    tl.store(out_ptr + 0, tl.sum(x))
    tl.store(out_ptr + 1, tl.max(x))
    tl.store(out_ptr + 2, tl.min(x))
    tl.store(out_ptr + 3, tl.argmax(x, axis=0))
    tl.store(out_ptr + 4, tl.argmin(x, axis=0))
    tl.store(out_ptr + 5, tl.xor_sum(x))
    tl.store(out_ptr + 6, tl.reduce(x, 0, larger))  # with a function of your own
    rows = tl.reshape(x, (2, 4))
    tl.store(out_ptr + 7, tl.sum(tl.max(rows, axis=1)))  # one axis at a time


@triton.jit
def scan_kernel(x_ptr, out_ptr):
    i = tl.arange(0, 8)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.cumsum(x))
    tl.store(out_ptr + 8 + i, tl.associative_scan(x, 0, larger))  # the largest so far
    tl.store(out_ptr + 16 + i, tl.sort(x))
    tl.store(out_ptr + 24 + i, tl.gather(x, 7 - i, axis=0))  # lane i takes lane 7 - i
    tl.store(out_ptr + 32 + i, tl.histogram(x, 8))  # how many lanes hold 0, 1, 2, ...


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([3, 1, 4, 1, 5, 2, 6, 5], dtype=torch.int32, device=device)
out = torch.empty(8, dtype=torch.int32, device=device)
lanes_kernel[(1,)](x, out)
for name, value in zip(("sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce", "axis=1"), out.tolist(), strict=True):
    print(f"{name:8}", value)
    #> sum      27
    #> max      6
    #> min      1
    #> argmax   6
    #> argmin   1
    #> xor_sum  3
    #> reduce   6
    #> axis=1   10
out = torch.empty((5, 8), dtype=torch.int32, device=device)
scan_kernel[(1,)](x, out)
for name, row in zip(("cumsum", "associative_scan", "sort", "gather", "histogram"), out.tolist(), strict=True):
    print(f"{name:16}", row)
    #> cumsum           [3, 4, 8, 9, 14, 16, 22, 27]
    #> associative_scan [3, 3, 4, 4, 5, 5, 6, 6]
    #> sort             [1, 1, 2, 3, 4, 5, 5, 6]
    #> gather           [5, 6, 2, 5, 1, 4, 1, 3]
    #> histogram        [0, 2, 1, 1, 1, 2, 1, 0]
# --8<-- [end:lanes]
