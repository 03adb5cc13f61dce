"""Persistent programs: one for each multiprocessor, which walks over many tiles and loads the next one early."""
# counters: persistent eager
# counters-also: everything
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

from kernels.tools.benchmark import Benchmark, keep


# --8<-- [start:kernel]
@triton.jit
def persistent_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns every num_programs-th tile of c.
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first, n_tiles, step = tl.program_id(0), n_rows * n_columns, tl.num_programs(0)
    for tile in tl.range(first, n_tiles, step, flatten=True):
        group = tile // (GROUP_M * n_columns)
        height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
        place = tile % (GROUP_M * n_columns)
        row = (group * GROUP_M + place % height) * BLOCK_M
        column = place // height * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([row, k])  # [BLOCK_M, BLOCK_K]
            b = b_desc.load([k, column])  # [BLOCK_K, BLOCK_N]
            total = tl.dot(a, b, total)
        c_desc.store([row, column], total.to(c_ptr.dtype.element_ty))
# --8<-- [end:kernel]


# --8<-- [start:launch]
def scratch(size, alignment, stream):
    """Memory for the descriptors, which the programs of a launch write."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


def persistent_product(a, b, programs):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    triton.set_allocator(scratch)
    grid = (min(programs, triton.cdiv(M, 128) * triton.cdiv(N, 256)),)
    sides = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8}
    options = {"num_warps": 8, "num_stages": 3}
    persistent_matmul_kernel[grid](a, b, c, M, N, K, **sides, **options)
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = torch.bfloat16 if device == "cuda" else torch.float16
a = torch.randint(-4, 5, (300, 200), device=device).to(dtype)
b = torch.randint(-4, 5, (200, 520), device=device).to(dtype)
expected = (a.float() @ b.float()).to(dtype)
for programs in (1, 4, 132):  # the product has nine tiles
    print(programs, torch.equal(persistent_product(a, b, programs), expected))
    #> 1 True
    #> 4 True
    #> 132 True
# --8<-- [end:launch]


def wrong(c, expected):
    """How many elements of all are off by more than rounding can be."""
    near = torch.isclose(c.double(), expected, rtol=1e-2, atol=0.1)
    return int((~near).sum())


if device == "cuda":
    torch.manual_seed(0)
    a, b = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
    programs = torch.cuda.get_device_properties(0).multi_processor_count
    ways = {"persistent": lambda: persistent_product(a, b, programs), "eager": lambda: a @ b}
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        ways[sys.argv[1]]()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        ways[sys.argv[1]]()
        torch.cuda.profiler.stop()
    else:
        benchmark, expected, failed = Benchmark(), a.double() @ b.double(), {}
        for name in list(ways):
            try:
                off = wrong(ways[name](), expected)
                failed |= {name: f"{off} elements are wrong"} if off else {}
            except Exception as error:
                failed[name] = f"{type(error).__name__}: {error}"[:200]
        ways = {name: way for name, way in ways.items() if name not in failed}
        print("failed:", failed or "none")
        moved, flops = a.nbytes + b.nbytes + 8192 * 8192 * a.element_size(), 2 * 8192 * 8192 * 8192
        benchmark.case("matmul_persistent", "fwd", "8192x8192x8192", a.dtype, moved, flops, ways, expected)
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"failed": failed})
