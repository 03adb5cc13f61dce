"""Persistent programs: a few for each multiprocessor, each of which takes many rows and loads ahead."""
# counters: row ahead_0 ahead_2
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


# --8<-- [start:kernel]
@triton.jit
def persistent_softmax_kernel(
    x_ptr, y_ptr, n_rows, n_columns, BLOCK: tl.constexpr, STAGES: tl.constexpr
):
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    first, step = tl.program_id(0).to(tl.int64), tl.num_programs(0)
    for row in tl.range(first, n_rows, step, num_stages=STAGES):
        offsets = row * n_columns + columns
        x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        numerator = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_ptr + offsets, numerator / tl.sum(numerator, axis=0), mask=mask)


def persistent(x, programs, stages, num_warps=4):
    y = torch.empty_like(x)
    n_rows, n_columns = x.shape
    block = triton.next_power_of_2(n_columns)
    sizes = {"BLOCK": block, "STAGES": stages, "num_warps": num_warps}
    persistent_softmax_kernel[(programs,)](x, y, n_rows, n_columns, **sizes)
    return y
# --8<-- [end:kernel]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(100, 781, device=device)
for programs in (1, 7, 200):  # fewer than rows, and more
    y = persistent(x, programs, stages=2)
    torch.testing.assert_close(y, torch.softmax(x, dim=-1))
print("any number of programs will do")
#> any number of programs will do
# --8<-- [end:check]


def ways_of(x, programs, num_warps):
    programs *= torch.cuda.get_device_properties(0).multi_processor_count
    ways = {"row": lambda: softmax_row(x, torch.empty_like(x))}
    for stages in (1, 2, 3):
        ways[f"ahead_{stages - 1}"] = lambda stages=stages: persistent(x, programs, stages, num_warps)
    return ways


if device == "cuda":
    torch.manual_seed(0)
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        way = ways_of(torch.randn(2048, 32768, device="cuda").bfloat16(), 1, 16)[sys.argv[1]]
        way()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        way()
        torch.cuda.profiler.stop()
    else:
        benchmark = Benchmark()
        for shape, programs, num_warps in (((16384, 4096), 16, 4), ((2048, 32768), 1, 16)):
            x = torch.randn(shape, device="cuda").bfloat16()
            expected = torch.softmax(x.double(), dim=-1)
            ways, name = ways_of(x, programs, num_warps), f"{shape[0]}x{shape[1]}"
            ways["blockwise"] = lambda x=x: softmax(x)
            benchmark.case("softmax_persistent", "fwd", name, x.dtype, 2 * x.nbytes, 5 * x.numel(), ways, expected)
        benchmark.finish()
