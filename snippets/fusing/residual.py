"""A residual added on the way out of a product: a kernel for Hopper, beside what adds it in a pass of its own."""
# counters: fused separate addmm
import os
import sys

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]

from kernels.tools.benchmark import Benchmark, keep
from kernels.matmul import matmul

# --8<-- [start:kernel]
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def residual_product_kernel(
    a_desc, b_desc, residual_ptr, c_ptr, M, N, K,
    UPCAST: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns every num_programs-th tile of c.
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    start, n_tiles, step = tl.program_id(0), n_rows * n_columns, tl.num_programs(0)
    for tile in tl.range(start, n_tiles, step, flatten=True):
        group = tile // (GROUP_M * n_columns)
        height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
        place = tile % (GROUP_M * n_columns)
        row = (group * GROUP_M + place % height) * BLOCK_M
        column = place // height * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([row, k])  # [BLOCK_M, BLOCK_K]
            b = b_desc.load([column, k]).T  # [BLOCK_K, BLOCK_N]
            if UPCAST:
                a, b = a.to(tl.float32), b.to(tl.float32)
            total = tl.dot(a, b, total)
        rows, columns = row + tl.arange(0, BLOCK_M), column + tl.arange(0, BLOCK_N)
        offsets = rows[:, None].to(tl.int64) * N + columns[None, :]  # [BLOCK_M, BLOCK_N]
        mask = (rows < M)[:, None] & (columns < N)[None, :]
        residual = tl.load(residual_ptr + offsets, mask=mask)
        tl.store(c_ptr + offsets, total + residual, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
def residual_product(a, weight, residual, programs):
    """a times the transposed weight, with the residual added before the sum is rounded."""
    (M, K), N = a.shape, weight.shape[0]
    c = torch.empty_like(residual)
    a_desc = TensorDescriptor(a, [M, K], list(a.stride()), [128, 64])
    b_desc = TensorDescriptor(weight, [N, K], list(weight.stride()), [256, 64])
    grid = (min(programs, triton.cdiv(M, 128) * triton.cdiv(N, 256)),)
    sides = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8}
    options = {"UPCAST": not a.is_cuda, "num_warps": 8, "num_stages": 3}
    residual_product_kernel[grid](a_desc, b_desc, residual, c, M, N, K, **sides, **options)
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randint(-4, 5, (200, 72), device=device).half()
weight = torch.randint(-4, 5, (300, 72), device=device).half()
residual = torch.randint(-4, 5, (200, 300), device=device).half()
expected = (a.double() @ weight.double().T + residual.double()).half()
print(torch.equal(residual_product(a, weight, residual, 3), expected))
#> True
# --8<-- [end:launch]

if device == "cuda" and torch.cuda.get_device_capability() == (9, 0):
    torch.manual_seed(0)
    programs = torch.cuda.get_device_properties(0).multi_processor_count

    def ways_of(a, weight, residual):
        compiled = torch.compile(lambda a, weight, residual: residual + a @ weight.T, dynamic=False)
        return {
            "fused": lambda: residual_product(a, weight, residual, programs),
            "separate": lambda: matmul(a, weight.T) + residual,
            "eager": lambda: a @ weight.T + residual,
            "addmm": lambda: torch.addmm(residual, a, weight.T),
            "compile": lambda: compiled(a, weight, residual),
        }

    def given(M, N, K):
        return [torch.randn(*shape, device="cuda").bfloat16() for shape in ((M, K), (N, K), (M, N))]

    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        way = ways_of(*given(8192, 4096, 4096))[sys.argv[1]]
        way()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        way()
        torch.cuda.profiler.stop()
    else:
        benchmark, failed = Benchmark(), {}
        for M, N, K in ((8192, 4096, 4096), (8192, 4096, 14336)):
            torch.compiler.reset()
            a, weight, residual = given(M, N, K)
            ways, shape = ways_of(a, weight, residual), f"{M}x{N}x{K}"
            wanted = a.double() @ weight.double().T + residual.double()
            for name in list(ways):
                try:
                    off = int((~torch.isclose(ways[name]().double(), wanted, rtol=2e-2, atol=1)).sum())
                    failed |= {f"{shape} {name}": f"{off} elements are wrong"} if off else {}
                except Exception as error:
                    failed[f"{shape} {name}"] = f"{type(error).__name__}: {error}"[:200]
            ways = {name: way for name, way in ways.items() if f"{shape} {name}" not in failed}
            moved, flops = 2 * (M * K + K * N + 2 * M * N), 2 * M * N * K
            benchmark.case("epilogue_residual", "fwd", shape, a.dtype, moved, flops, ways, wanted)
        print("failed:", failed or "none")
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"failed": failed})
