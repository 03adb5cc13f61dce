"""Rows of a table gathered and added up by bags of any length, with every tool: lines, builds and times of one run."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch.nn.functional as F
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark, keep
from snippets.cuda.compare import build, call, code_lines, sound, triton_build


# --8<-- [start:pytorch]
def pytorch_bags(table, indices, starts):
    return F.embedding_bag(indices, table, starts, mode="sum", include_last_offset=True)
# --8<-- [end:pytorch]


# --8<-- [start:triton]
@triton.jit
def bag_kernel(table_ptr, indices_ptr, starts_ptr, out_ptr, WIDTH: tl.constexpr):
    # This program adds up the rows of one bag.
    bag = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, WIDTH)
    total = tl.zeros((WIDTH,), tl.float32)
    for at in range(tl.load(starts_ptr + bag), tl.load(starts_ptr + bag + 1)):
        row = tl.load(indices_ptr + at)
        total += tl.load(table_ptr + row * WIDTH + columns)
    tl.store(out_ptr + bag * WIDTH + columns, total)


def triton_bags(table, indices, starts):
    bags, width = starts.shape[0] - 1, table.shape[1]
    out = torch.empty(bags, width, device=table.device)
    bag_kernel[(bags,)](table, indices, starts, out, WIDTH=width, num_warps=1)
    return out
# --8<-- [end:triton]


CUDA = r"""
// --8<-- [start:cuda]
#include <cstdint>

constexpr int WIDTH = 256, LANES = 32;

__device__ void add(float4& total, const float4 v) { total.x += v.x, total.y += v.y, total.z += v.z, total.w += v.w; }

__global__ void __launch_bounds__(128) add_bags(const float4* table, const int64_t* indices, const int64_t* starts, float4* out,
                                                int64_t bags) {
  // This warp has one bag, and each of its lanes eight columns.
  const int64_t bag = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / LANES;
  const int lane = threadIdx.x % LANES;
  if (bag >= bags) return;
  const int64_t first = starts[bag], last = starts[bag + 1];
  float4 low = {}, high = {};
#pragma unroll 4
  for (int64_t i = first; i < last; ++i) {
    const float4* row = table + indices[i] * (WIDTH / 4);
    add(low, row[lane]);
    add(high, row[lane + LANES]);
  }
  out[bag * (WIDTH / 4) + lane] = low;
  out[bag * (WIDTH / 4) + lane + LANES] = high;
}

extern "C" int launch(const float4* table, const int64_t* indices, const int64_t* starts, float4* out, int64_t bags,
                      int64_t width, cudaStream_t stream) {
  if (width != WIDTH) return cudaErrorInvalidValue;
  add_bags<<<(bags + 3) / 4, 128, 0, stream>>>(table, indices, starts, out, bags);
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


# --8<-- [start:check]
def bags_of(rows, bags, longest, device):
    """Random indices of rows, and where each bag's begin."""
    lengths = torch.randint(0, longest + 1, (bags,), device=device)
    starts = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
    return torch.randint(0, rows, (int(starts[-1]),), device=device), starts


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
table, (indices, starts) = torch.randn(100, 256, device=device), bags_of(100, 20, 8, device)
given = table, indices, starts
print("off by rounding only:", torch.allclose(triton_bags(*given), pytorch_bags(*given), atol=1e-4))
#> off by rounding only: True
# --8<-- [end:check]


def cuda_bags(library, table, indices, starts):
    out = torch.empty(starts.shape[0] - 1, table.shape[1], device=table.device)
    call(library.launch, table, indices, starts, out, *out.shape)
    return out


lines = {"eager": code_lines(pytorch_bags), "cuda": code_lines(CUDA)}
lines |= {"compile": lines["eager"] + 1, "triton": code_lines(bag_kernel, triton_bags)}
print("lines of code:", lines)
figures = {"lines": lines}
if device == "cuda":
    benchmark = Benchmark()
    library, figures["cuda"] = build(CUDA)
    table, (indices, starts) = torch.randn(2**20, 256, device="cuda"), bags_of(2**20, 2**16, 64, "cuda")
    given = table, indices, starts
    figures["triton"] = triton_build(bag_kernel, *given, table, WIDTH=256, num_warps=1)
    compiled = torch.compile(pytorch_bags, dynamic=False)
    ways = {"eager": lambda: pytorch_bags(*given), "compile": lambda: compiled(*given), "triton": lambda: triton_bags(*given)}
    if library:
        ways["cuda"] = lambda: cuda_bags(library, *given)
    else:
        print("skipped: the CUDA C++ build of the bags,", figures["cuda"]["skipped"])
    owners = torch.repeat_interleave(torch.arange(2**16, device="cuda"), starts.diff())
    expected = torch.zeros(2**16, 256, dtype=torch.float64, device="cuda").index_add_(0, owners, table.double()[indices])
    ways, figures["failed"] = sound(ways, expected, table.dtype)
    moved = 4 * 256 * (indices.numel() + 2**16) + indices.nbytes
    benchmark.case("tool_bags", "fwd", "65536 bags", table.dtype, moved, 256 * indices.numel(), ways, expected)
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
else:
    keep(figures=figures)
