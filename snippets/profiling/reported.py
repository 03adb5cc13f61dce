"""triton.testing.perf_report: a table over sizes and ways from one function."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import torch
import triton
import triton.language as tl

import importlib.util

# --8<-- [start:reported]
from triton.testing import Benchmark, do_bench, perf_report

sizes = Benchmark(
    x_names=["n"], x_vals=[2**16, 2**20, 2**24], line_arg="way", line_vals=["add", "copy"], line_names=["add", "copy"],
    ylabel="GB/s", plot_name="", args={},  # without a name nothing is drawn
)  # fmt: skip


@perf_report(sizes)
def measured(n, way):
    x, y = torch.randn(2, n, device="cuda").unbind()
    call, moved = (lambda: x + y, 12 * n) if way == "add" else (lambda: y.copy_(x), 8 * n)
    return moved / do_bench(call, return_mode="median") / 1e6
# --8<-- [end:reported]


if importlib.util.find_spec("pandas") is None:
    print("perf_report needs pandas, which Triton does not bring")
elif torch.cuda.is_available():
    measured.run(print_data=True)
else:
    print("do_bench needs a GPU")
