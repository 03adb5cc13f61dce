"""Products of one wave: by programs that own one tile each, and by programs that persist, with the same tile; and cuBLAS."""
# needs: sm_90
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark, keep
from kernels.matmul import matmul
from kernels.matmul.epilogue import Epilogue
from kernels.matmul.plan import MatmulPlan, matmul_plan
from kernels.matmul.dispatch import prepare_launch


# --8<-- [start:ways]
def persistent(a, b, tile):
    """The kernel whose programs go on to further tiles, though there are none here."""
    names = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps", "num_stages")
    configuration = dict(zip(names, tile, strict=True)) | {"GROUP_M": 8, "DESCRIPTOR_STORE": True, "programs": 132}
    c = a.new_empty(a.shape[0], b.shape[1])
    prepare_launch(a, b, c, Epilogue(), MatmulPlan("hopper", configuration, "It is asked for."))(a, b, c, Epilogue())
    return c


# Rows, columns and terms.
SHAPES = [(512, 512, 512), (1024, 1024, 1024), (2048, 1024, 2048), (4096, 512, 4096), (8192, 256, 8192), (8192, 128, 8192)]
benchmark, tiles = Benchmark(), {}
for m, n, k in SHAPES:
    a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
    plan = matmul_plan(a, b)
    tile = [plan.configuration[name] for name in ("WIDE", "NARROW", "BLOCK_K", "num_warps", "num_stages")]
    ways = {"blockwise": lambda: matmul(a, b), "persistent": lambda: persistent(a, b, tile), "eager": lambda: a @ b}
    moved, shape = (a.numel() + b.numel() + m * n) * 2, f"{m}x{n}x{k}"
    benchmark.case("one_wave", "fwd", shape, a.dtype, moved, 2 * m * n * k, ways, a @ b, plan.configuration)
    tiles[shape] = {"wide": tile[0], "narrow": tile[1], "tiles": -(-m // tile[0]) * -(-n // tile[1])}
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=tiles)
# --8<-- [end:ways]
