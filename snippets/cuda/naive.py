"""A matrix product without any reuse by design, in CUDA C++ and Triton, beside PyTorch's: lines, builds and times of one run."""
import os

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

from kernels.tools.benchmark import Benchmark, keep
from snippets.cuda.compare import build, call, code_lines, sound, triton_build


# --8<-- [start:pytorch]
def pytorch_product(a, b):
    return a @ b
# --8<-- [end:pytorch]


# --8<-- [start:triton]
@triton.jit
def beside_naive_kernel(a_ptr, b_ptr, c_ptr, N, K, BLOCK: tl.constexpr):
    # This program computes BLOCK neighboring elements of a row of c.
    row = tl.program_id(1).to(tl.int64)
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < N
    a_ptrs, b_ptrs = a_ptr + row * K, b_ptr + columns
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(K):
        total += tl.load(a_ptrs) * tl.load(b_ptrs, mask=mask)
        a_ptrs += 1
        b_ptrs += N
    tl.store(c_ptr + row * N + columns, total, mask=mask)


def triton_naive(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, device=a.device)
    beside_naive_kernel[(triton.cdiv(N, 256), M)](a, b, c, N, K, BLOCK=256, num_warps=8)
    return c
# --8<-- [end:triton]


CUDA = r"""
// --8<-- [start:cuda]
#include <cstdint>

__global__ void naive(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  // This thread computes one element of c. Its neighbors in the block compute the elements beside it.
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, row = i / N, column = i % N;
  if (row >= M) return;
  float total = 0;
  for (int64_t k = 0; k < K; ++k) total += a[row * K + k] * b[k * N + column];
  c[i] = total;
}

extern "C" int launch(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K, cudaStream_t stream) {
  naive<<<(M * N + 255) / 256, 256, 0, stream>>>(a, b, c, M, N, K);
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
a, b = torch.randn(30, 40, device=device), torch.randn(40, 300, device=device)
print("off by rounding only:", torch.allclose(triton_naive(a, b), pytorch_product(a, b), atol=1e-4))
#> off by rounding only: True
# --8<-- [end:check]


def cuda_naive(library, a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, device=a.device)
    call(library.launch, a, b, c, M, N, K)
    return c


lines = {"eager": code_lines(pytorch_product), "cuda": code_lines(CUDA)}
lines |= {"triton": code_lines(beside_naive_kernel, triton_naive)}
print("lines of code:", lines)
figures = {"lines": lines}
if device == "cuda":
    benchmark = Benchmark()
    library, figures["cuda"] = build(CUDA)
    a, b = (torch.randn(4096, 4096, device="cuda") for _ in range(2))
    figures["triton"] = triton_build(beside_naive_kernel, a, b, a, 4096, 4096, BLOCK=256, num_warps=8)
    ways = {"eager": lambda: pytorch_product(a, b), "triton": lambda: triton_naive(a, b)}
    if library:
        ways["cuda"] = lambda: cuda_naive(library, a, b)
    else:
        print("skipped: the CUDA C++ build of the naive product,", figures["cuda"]["skipped"])
    expected = a.double() @ b.double()
    ways, figures["failed"] = sound(ways, expected, a.dtype)
    benchmark.case("beside_naive", "fwd", "4096x4096x4096", a.dtype, 3 * a.nbytes, 2 * 4096**3, ways, expected)
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
else:
    keep(figures=figures)
