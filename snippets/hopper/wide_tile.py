"""A tile of 128 by 192, which is not a power of two: two sums side by side, so that the tiles of a product fill the GPU."""
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
from triton.tools.tensor_descriptor import TensorDescriptor
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark, keep
from kernels.matmul import matmul
from kernels.matmul.epilogue import Epilogue
from kernels.matmul.plan import hopper_plan
from kernels.matmul.dispatch import prepare_launch


# --8<-- [start:kernel]
@triton.jit
def wide_tile_kernel(
    a_desc, b_first_desc, b_last_desc, c_first_desc, c_last_desc, c_ptr, M, N, K,
    UPCAST: tl.constexpr, BLOCK_M: tl.constexpr, FIRST: tl.constexpr, LAST: tl.constexpr,
    BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns every num_programs-th tile of c, of FIRST + LAST columns.
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, FIRST + LAST)
    start, n_tiles, step = tl.program_id(0), n_rows * n_columns, tl.num_programs(0)
    for tile in tl.range(start, n_tiles, step, flatten=True):
        group = tile // (GROUP_M * n_columns)
        height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
        place = tile % (GROUP_M * n_columns)
        row = (group * GROUP_M + place % height) * BLOCK_M
        column = place // height * (FIRST + LAST)
        first = tl.zeros((BLOCK_M, FIRST), tl.float32)
        last = tl.zeros((BLOCK_M, LAST), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([row, k])  # [BLOCK_M, BLOCK_K]
            b_first = b_first_desc.load([k, column])  # [BLOCK_K, FIRST]
            b_last = b_last_desc.load([k, column + FIRST])  # [BLOCK_K, LAST]
            if UPCAST:
                a, b_first, b_last = a.to(tl.float32), b_first.to(tl.float32), b_last.to(tl.float32)
            first = tl.dot(a, b_first, first)
            last = tl.dot(a, b_last, last)
        c_first_desc.store([row, column], first.to(c_ptr.dtype.element_ty))
        c_last_desc.store([row, column + FIRST], last.to(c_ptr.dtype.element_ty))
# --8<-- [end:kernel]


# --8<-- [start:launch]
def tile_descriptor(matrix, *block):
    """A descriptor of a matrix, made by the host, for tiles of this shape."""
    return TensorDescriptor(matrix, list(matrix.shape), list(matrix.stride()), list(block))


def wide_product(a, b, programs, stages=4, groups=8):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    halves = tile_descriptor(b, 64, 128), tile_descriptor(b, 64, 64), tile_descriptor(c, 128, 128), tile_descriptor(c, 128, 64)
    grid = (min(programs, triton.cdiv(M, 128) * triton.cdiv(N, 192)),)
    sides = {"BLOCK_M": 128, "FIRST": 128, "LAST": 64, "BLOCK_K": 64, "GROUP_M": groups}
    options = {"UPCAST": not a.is_cuda, "num_warps": 8, "num_stages": stages}
    wide_product.kernel = wide_tile_kernel[grid](
        tile_descriptor(a, 128, 64), *halves, c, M, N, K, **sides, **options
    )
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
for M, N, K in ((128, 192, 64), (200, 600, 136)):
    a = torch.randint(-4, 5, (M, K), device=device).half()
    b = torch.randint(-4, 5, (K, N), device=device).half()
    print(torch.equal(wide_product(a, b, 3).double(), a.double() @ b.double()))
    #> True
    #> True
# --8<-- [end:launch]


def whole_tiles(a, b, programs):
    """The library's Triton kernel, also where the library would take the one in Gluon."""
    c, finish = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device), Epilogue()
    prepare_launch(a, b, c, finish, hopper_plan(*c.shape, "half", programs))(a, b, c, finish)
    return c


def wrong(c, expected):
    """How many elements of all are off by more than rounding can be."""
    return int((~torch.isclose(c.double(), expected, rtol=1e-2, atol=0.5)).sum())


if device == "cuda" and torch.cuda.get_device_capability() == (9, 0):
    torch.manual_seed(0)
    programs, figures, failed = torch.cuda.get_device_properties(0).multi_processor_count, {}, {}
    benchmark = Benchmark()
    for side in (1536, 3072, 4096, 6144):
        a, b = (torch.randn(side, side, device="cuda").bfloat16() for _ in range(2))
        expected = a.double() @ b.double()
        ways = {
            "wide_tile": lambda: wide_product(a, b, programs),
            "wide_tile_3": lambda: wide_product(a, b, programs, stages=3),
            "wide_tile_g4": lambda: wide_product(a, b, programs, groups=4),
            "whole": lambda: whole_tiles(a, b, programs),
            "blockwise_nn": lambda: matmul(a, b),
            "eager": lambda: a @ b,
        }
        for name in list(ways):
            try:
                off = wrong(ways[name](), expected)
                failed |= {f"{side} {name}": f"{off} elements are wrong"} if off else {}
            except Exception as error:
                failed[f"{side} {name}"] = f"{type(error).__name__}: {error}"[:200]
        ways = {name: way for name, way in ways.items() if f"{side} {name}" not in failed}
        moved, flops = 6 * side * side, 2 * side**3
        benchmark.case("wide_tile", "fwd", f"{side}x{side}x{side}", a.dtype, moved, flops, ways, expected)
    if hasattr(wide_product, "kernel"):
        wide_product(a, b, programs)
        made = wide_product.kernel
        figures = {"registers": made.n_regs, "spills": made.n_spills, "shared_bytes": made.metadata.shared}
    figures["failed"] = failed
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
