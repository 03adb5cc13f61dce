"""Several short rows to a program: the same bytes, fewer programs to start."""
# counters: rows_1 rows_16
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


# --8<-- [start:kernel]
@triton.jit
def several_rows_kernel(
    x_ptr, y_ptr, n_rows, n_columns, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    first = tl.program_id(0).to(tl.int64) * ROWS
    rows = first + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    mask = (rows < n_rows) & (columns < n_columns)  # [ROWS, BLOCK]
    offsets = rows * n_columns + columns
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=1, keep_dims=True))
    y = numerator / tl.sum(numerator, axis=1, keep_dims=True)
    tl.store(y_ptr + offsets, y, mask=mask)


def several_rows(x, rows):
    y = torch.empty_like(x)
    n_rows, n_columns = x.shape
    block = triton.next_power_of_2(n_columns)
    grid = (triton.cdiv(n_rows, rows),)
    sizes = {"ROWS": rows, "BLOCK": block, "num_warps": 1}
    several_rows_kernel[grid](x, y, n_rows, n_columns, **sizes)
    return y
# --8<-- [end:kernel]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(1000, 50, device=device)
torch.testing.assert_close(several_rows(x, rows=16), torch.softmax(x, dim=-1))
print("programs:", triton.cdiv(1000, 16))
#> programs: 63
# --8<-- [end:check]

if device == "cuda":
    torch.manual_seed(0)
    x = torch.randn(2**20, 64, device="cuda").bfloat16()
    ways = {f"rows_{rows}": lambda rows=rows: several_rows(x, rows) for rows in (1, 2, 4, 8, 16, 32)}
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
        benchmark.case("softmax_ladder", "fwd", "1048576x64", x.dtype, 2 * x.nbytes, 5 * x.numel(), ways, expected)
        benchmark.finish()
