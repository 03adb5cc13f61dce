"""A bf16 product on the tensor cores, in CUDA C++ with mma and cp.async and in Triton: lines, builds and times of one run."""
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
from snippets.landscape.cuda_source import cuda_source


# --8<-- [start:pytorch]
def pytorch_product(a, b):
    return a @ b
# --8<-- [end:pytorch]


# --8<-- [start:triton]
@triton.jit
def beside_product_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, GROUP_M: tl.constexpr,
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
    tl.store(c_ptr + rows * N + columns, total, mask=(rows < M) & (columns < N))


SIZES = {"GROUP_M": 8, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3}


def triton_product(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 128) * triton.cdiv(N, 256),)
    beside_product_kernel[grid](a, b, c, M, N, K, **SIZES)
    return c
# --8<-- [end:triton]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = torch.bfloat16 if device == "cuda" else torch.float16  # the interpreter multiplies no bf16
torch.manual_seed(0)
a, b = torch.randn(150, 128, device=device).to(dtype), torch.randn(128, 264, device=device).to(dtype)
expected = (a.float() @ b.float()).to(dtype)
print("off by rounding only:", torch.allclose(triton_product(a, b), expected, rtol=2e-2, atol=0.05))
#> off by rounding only: True
# --8<-- [end:check]


def cuda_product(library, a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=a.dtype, device=a.device)
    call(library.launch, a, b, c, M, N, K)
    return c


CUDA = cuda_source(128, 256, 64, 8, 3)  # the same tile, warps and stages
lines = {"eager": code_lines(pytorch_product), "cuda": code_lines(CUDA)}
lines |= {"compile": lines["eager"] + 1, "triton": code_lines(beside_product_kernel, triton_product) + 1}  # and the line of sizes
print("lines of code:", lines)
figures = {"lines": lines}
if device == "cuda":
    benchmark = Benchmark()
    library, figures["cuda"] = build(CUDA)
    figures["triton"] = triton_build(beside_product_kernel, a, a, a, 4096, 4096, 4096, **SIZES)
    figures["failed"] = {}
    if not library:
        print("skipped: the CUDA C++ build of the product on tensor cores,", figures["cuda"]["skipped"])
    for side in (4096, 8192):
        torch.compiler.reset()
        a, b = (torch.randn(side, side, device="cuda").bfloat16() for _ in range(2))
        compiled = torch.compile(pytorch_product, dynamic=False)
        ways = {"eager": lambda: pytorch_product(a, b), "compile": lambda: compiled(a, b), "triton": lambda: triton_product(a, b)}
        if library:
            ways["cuda"] = lambda: cuda_product(library, a, b)
        expected, shape = a.double() @ b.double(), f"{side}x{side}x{side}"
        ways, failed = sound(ways, expected, a.dtype)
        figures["failed"] |= {f"{shape} {name}": why for name, why in failed.items()}
        benchmark.case("beside_product", "fwd", shape, a.dtype, 3 * a.nbytes, 2 * side**3, ways, expected)
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
else:
    keep(figures=figures)
