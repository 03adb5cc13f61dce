"""One product with what Hopper has, one thing after another: what each compiles to, whether it is right, and its time."""
# counters: pointers host persistent flattened specialized eager
# counters-also: everything
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.benchmark import Benchmark, keep

# --8<-- [start:imports]
import re

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import JITFunction, driver
from triton.tools.tensor_descriptor import TensorDescriptor
# --8<-- [end:imports]

from kernels.tools.compile_only import compile_only


# --8<-- [start:kernel]
@triton.jit
def feature_kernel(
    a, b, c, M, N, K,
    MADE_HERE: tl.constexpr, FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns every num_programs-th tile of c.
    if MADE_HERE:  # a, b and c are pointers
        a_desc = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
        b_desc = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
        c_desc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    else:  # they are descriptors already
        a_desc, b_desc, c_desc = a, b, c
    n_rows, n_columns = (M + BLOCK_M - 1) // BLOCK_M, (N + BLOCK_N - 1) // BLOCK_N
    start, n_tiles, step = tl.program_id(0), n_rows * n_columns, tl.num_programs(0)
    for tile in tl.range(start, n_tiles, step, flatten=FLATTEN, warp_specialize=SPECIALIZE):
        group = tile // (GROUP_M * n_columns)
        height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
        place = tile % (GROUP_M * n_columns)
        row = (group * GROUP_M + place % height) * BLOCK_M
        column = place // height * BLOCK_N
        total = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
        for k in range(0, K, BLOCK_K):
            x = a_desc.load([row, k])  # [BLOCK_M, BLOCK_K]
            y = b_desc.load([k, column])  # [BLOCK_K, BLOCK_N]
            total = tl.dot(x, y, total)
        c_desc.store([row, column], total.to(c_desc.dtype))
# --8<-- [end:kernel]


# --8<-- [start:pointers]
@triton.jit
def pointer_feature_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns one tile of c. The tiles divide the matrices, so nothing is masked.
    tile = tl.program_id(0).to(tl.int64)
    n_rows, n_columns = (M + BLOCK_M - 1) // BLOCK_M, (N + BLOCK_N - 1) // BLOCK_N
    group = tile // (GROUP_M * n_columns)
    height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
    place = tile % (GROUP_M * n_columns)
    rows = (group * GROUP_M + place % height) * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    columns = place // height * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]  # [BLOCK_M, BLOCK_K]
    b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]  # [BLOCK_K, BLOCK_N]
    total = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
    for _ in range(0, K, BLOCK_K):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)
# --8<-- [end:pointers]


# --8<-- [start:compile]
SIDES = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8}
EIGHT, FOUR = {"num_warps": 8, "num_stages": 3}, {"num_warps": 4, "num_stages": 3}
PLAIN = {"MADE_HERE": False, "FLATTEN": False, "SPECIALIZE": False}
WAYS = {
    "pointers": (pointer_feature_kernel, EIGHT),
    "host": (feature_kernel, PLAIN | EIGHT),
    "flattened": (feature_kernel, PLAIN | EIGHT | {"FLATTEN": True}),
    "made_here": (feature_kernel, PLAIN | EIGHT | {"FLATTEN": True, "MADE_HERE": True}),
    "specialized": (feature_kernel, PLAIN | FOUR | {"MADE_HERE": True, "SPECIALIZE": True}),
}


def tile_descriptor(matrix, rows, columns):
    """A descriptor of a matrix, made by the host, for tiles of rows by columns."""
    return TensorDescriptor(matrix, list(matrix.shape), list(matrix.stride()), [rows, columns])


def given(options, a, b, c):
    """What a kernel is given: descriptors, or pointers where it makes its own or uses none."""
    sizes = (a.shape[0], b.shape[1], a.shape[1])
    if options.get("MADE_HERE", True):
        return a, b, c, *sizes
    return tile_descriptor(a, 128, 64), tile_descriptor(b, 64, 256), tile_descriptor(c, 128, 256), *sizes


device = "cuda" if torch.cuda.is_available() else "cpu"
a = b = c = torch.empty(1024, 1024, dtype=torch.bfloat16, device=device)
made = {
    name: compile_only(kernel, *given(options, a, b, c), **options, **SIDES)
    for name, (kernel, options) in WAYS.items()
}
# --8<-- [end:compile]


# --8<-- [start:lines]
def lines(name, stage, words):
    """How many lines of a stage of a compiled kernel have these words in them."""
    return len(re.findall(rf"^.*{re.escape(words)}\b", made[name].asm[stage], re.MULTILINE))


LOOKED_FOR = {
    "copy by pointers": ("ttg.async_copy_global_to_local", "cp.async.cg"),
    "copy of a tile": ("ttng.async_tma_copy_global_to_local", "cp.async.bulk.tensor.2d.shared"),
    "product": ("ttng.warp_group_dot", "wgmma.mma_async"),
    "tile stored": ("ttng.async_tma_copy_local_to_global", "cp.async.bulk.tensor.2d.global"),
    "descriptor made": ("ttng.tensormap_create", "tensormap.cp_fenceproxy"),
    "warps divided": ("ttg.warp_specialize", "setmaxnreg"),
}
print("in TTGIR, in PTX  " + "".join(f"{name:>12}" for name in WAYS))
#> in TTGIR, in PTX      pointers        host   flattened   made_here specialized
for what, (ttgir, ptx) in LOOKED_FOR.items():
    found = [f"{lines(name, 'ttgir', ttgir)}, {lines(name, 'ptx', ptx)}" for name in WAYS]
    print(f"{what:18}" + "".join(f"{counts:>12}" for counts in found))
    #> copy by pointers         6, 36        0, 0        0, 0        0, 0        0, 0
    #> copy of a tile            0, 0        6, 6        6, 6        6, 6        3, 3
    #> product                   1, 4        1, 4        1, 4        1, 4        2, 8
    #> tile stored               0, 0        1, 1        2, 2        2, 2        2, 2
    #> descriptor made           0, 0        0, 0        0, 0        3, 3        4, 4
    #> warps divided             0, 0        0, 0        0, 0        0, 0        1, 8
# --8<-- [end:lines]


def loops(name):
    """How many loops stand around the product."""
    text = made[name].asm["ttgir"].splitlines()
    at = next(place for place, line in enumerate(text) if "ttng.warp_group_dot " in line)
    around, depth = 0, len(text[at]) - len(text[at].lstrip())
    for line in reversed(text[:at]):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < depth:
            around, depth = around + ("scf.for" in line), indent
    return around


for name, kernel in made.items():
    print(f"{name:12}{loops(name)} around the product, {kernel.metadata.num_warps} warps")
    #> pointers    1 around the product, 8 warps
    #> host        2 around the product, 8 warps
    #> flattened   1 around the product, 8 warps
    #> made_here   1 around the product, 8 warps
    #> specialized 2 around the product, 12 warps

# --8<-- [start:rules]
for broken in ({}, {"num_warps": 8}, {"FLATTEN": True}):
    options = WAYS["specialized"][1] | broken
    kernel = compile_only(feature_kernel, *given(options, a, b, c), **options, **SIDES)
    print(broken, "ttg.warp_specialize" in kernel.asm["ttgir"])
    #> {} True
    #> {'num_warps': 8} False
    #> {'FLATTEN': True} False
# --8<-- [end:rules]


def wrong(c, expected):
    """How many elements of all are off by more than rounding can be."""
    return int((~torch.isclose(c.double(), expected, rtol=1e-2, atol=0.5)).sum())


def scratch(size, alignment, stream):
    """Memory for descriptors that the programs of a launch write."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


def product(name, a, b, persistent=True):
    kernel, options = WAYS[name]
    c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    tiles = triton.cdiv(a.shape[0], 128) * triton.cdiv(b.shape[1], 256)
    programs = min(tiles, SMS) if persistent and name != "pointers" else tiles
    kernel[(programs,)](*given(options, a, b, c), **options, **SIDES)
    return c


if device == "cuda" and torch.cuda.get_device_capability() == (9, 0):
    torch.manual_seed(0)
    triton.set_allocator(scratch)
    SMS = torch.cuda.get_device_properties(0).multi_processor_count

    def ways_of(a, b):
        return {
            "pointers": lambda: product("pointers", a, b),
            "host": lambda: product("host", a, b, persistent=False),
            "persistent": lambda: product("host", a, b),
            "flattened": lambda: product("flattened", a, b),
            "made_here": lambda: product("made_here", a, b),
            "specialized": lambda: product("specialized", a, b),
            "eager": lambda: a @ b,
        }

    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        a, b = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
        way = ways_of(a, b)[sys.argv[1]]
        way()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        way()
        torch.cuda.profiler.stop()
    else:
        benchmark, failed = Benchmark(), {}
        for M, N, K in ((8192, 8192, 8192), (8192, 8192, 512), (1024, 1024, 1024), (128, 256, 64)):
            a = torch.randn(M, K, device="cuda", dtype=torch.bfloat16)
            b = torch.randn(K, N, device="cuda", dtype=torch.bfloat16)
            expected, ways, shape = a.double() @ b.double(), ways_of(a, b), f"{M}x{N}x{K}"
            for name in list(ways):
                try:
                    off = wrong(ways[name](), expected)
                    failed |= {f"{shape} {name}": f"{off} elements are wrong"} if off else {}
                except Exception as error:
                    failed[f"{shape} {name}"] = f"{type(error).__name__}: {error}"[:200]
            right = {name: way for name, way in ways.items() if f"{shape} {name}" not in failed}
            moved = 2 * (M * K + K * N + M * N)
            benchmark.case("hopper_features", "fwd", shape, a.dtype, moved, 2 * M * N * K, right, expected)
        print("failed:", failed or "none")
        shared = {f"{name}_shared_bytes": kernel.metadata.shared for name, kernel in made.items()}
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"failed": failed, **shared})
