"""A product, a bias and GELU with every tool, also with the epilogue of cuBLAS itself: lines, builds and times of one run."""
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
from snippets.landscape.cuda_source import cuda_source


# --8<-- [start:pytorch]
def pytorch_linear(a, b, bias):
    return F.gelu(torch.addmm(bias, a, b), approximate="tanh")


def library_linear(a, b, bias):
    return torch._addmm_activation(bias, a, b, use_gelu=True)
# --8<-- [end:pytorch]


# --8<-- [start:triton]
@triton.jit
def product_gelu_kernel(
    a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, GROUP_M: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # This program computes a tile of c. GROUP_M rows of tiles go together, for the L2 cache.
    tile = tl.program_id(0)
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first = tile // (GROUP_M * n_columns) * GROUP_M
    height = tl.minimum(n_rows - first, GROUP_M)
    place = tile % (GROUP_M * n_columns)
    rows = (first + place % height).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = (place // height).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    inner = tl.arange(0, BLOCK_K)
    a_ptrs, b_ptrs = a_ptr + rows * K + inner[None, :], b_ptr + inner[:, None] * N + columns
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        a, b = tl.load(a_ptrs, mask=rows < M, other=0.0), tl.load(b_ptrs, mask=columns < N, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    # What a plain product does not have: three lines.
    x = total + tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
    inside = 1.5957691216057308 * (x + 0.044715 * x * x * x)
    total = x * tl.sigmoid(inside)
    tl.store(c_ptr + rows * N + columns, total, mask=(rows < M) & (columns < N))


SIZES = {"GROUP_M": 8, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3}


def triton_linear(a, b, bias):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 128) * triton.cdiv(N, 256),)
    product_gelu_kernel[grid](a, b, bias, c, M, N, K, **SIZES)
    return c
# --8<-- [end:triton]


# --8<-- [start:cuda]
CHANGES = {  # of the CUDA C++ of a plain product
    "// One instruction of the tensor core": """\
// GELU, by its approximation.
__device__ inline float gelu(float x) {
  return x / (1 + __expf(-1.5957691216057308f * (x + 0.044715f * x * x * x)));
}

// One instruction of the tensor core""",
    "matmul(const bf16* a, const bf16* b, bf16* c": "matmul(const bf16* a, const bf16* b, const bf16* bias, bf16* c",
    "launch(const bf16* a, const bf16* b, bf16* c": "launch(const bf16* a, const bf16* b, const bf16* bias, bf16* c",
    "(a, b, c, M, N, K);": "(a, b, bias, c, M, N, K);",
    "      const float(&sums)[4] = total[m][n];": """\
      float(&sums)[4] = total[m][n];
      if (j < N) {
        for (int s = 0; s < 4; ++s) sums[s] = gelu(sums[s] + __bfloat162float(bias[j + s % 2]));
      }""",
}


def cuda_linear_source():
    text = cuda_source(128, 256, 64, 8, 3)
    for plain, changed in CHANGES.items():
        assert text.count(plain) == 1, plain
        text = text.replace(plain, changed)
    return text
# --8<-- [end:cuda]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = torch.bfloat16 if device == "cuda" else torch.float16  # the interpreter multiplies no bf16
torch.manual_seed(0)
a, b = torch.randn(150, 128, device=device).to(dtype), torch.randn(128, 264, device=device).to(dtype)
bias = torch.randn(264, device=device).to(dtype)
expected = pytorch_linear(a.double(), b.double(), bias.double())
print("off by rounding only:", torch.allclose(triton_linear(a, b, bias).double(), expected, rtol=2e-2, atol=0.05))
#> off by rounding only: True
# --8<-- [end:check]


def cuda_linear(library, a, b, bias):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=a.dtype, device=a.device)
    call(library.launch, a, b, bias, c, M, N, K)
    return c


CUDA = cuda_linear_source()
lines = {"eager": code_lines(pytorch_linear), "library": code_lines(library_linear), "cuda": code_lines(CUDA)}
lines |= {"compile": lines["eager"] + 1, "triton": code_lines(product_gelu_kernel, triton_linear) + 1}  # and the line of sizes
print("lines of code:", lines)
figures = {"lines": lines}
if device == "cuda":
    benchmark = Benchmark()
    library, figures["cuda"] = build(CUDA)
    M, N, K = 8192, 4096, 4096
    a, b = torch.randn(M, K, device="cuda").bfloat16(), (torch.randn(K, N, device="cuda") / K**0.5).bfloat16()
    bias = torch.randn(N, device="cuda").bfloat16()
    figures["triton"] = triton_build(product_gelu_kernel, a, b, bias, a, M, N, K, **SIZES)
    compiled = torch.compile(pytorch_linear, dynamic=False)
    ways = {"eager": lambda: pytorch_linear(a, b, bias), "library": lambda: library_linear(a, b, bias)}
    ways |= {"compile": lambda: compiled(a, b, bias), "triton": lambda: triton_linear(a, b, bias)}
    if library:
        ways["cuda"] = lambda: cuda_linear(library, a, b, bias)
    else:
        print("skipped: the CUDA C++ build of the product with GELU,", figures["cuda"]["skipped"])
    expected = pytorch_linear(a.double(), b.double(), bias.double())
    ways, figures["failed"] = sound(ways, expected, a.dtype)
    moved, shape = 2 * (M * K + K * N + M * N), f"{M}x{N}x{K}"
    benchmark.case("tool_epilogue", "fwd", shape, a.dtype, moved, 2 * M * N * K, ways, expected)
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
else:
    keep(figures=figures)
