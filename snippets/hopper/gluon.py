"""The library's kernel in Gluon, in tiles of 192 by 128: what the compiler makes of it, and on a Hopper GPU its product."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import re

import torch
from triton.runtime import driver

from kernels.tools.compile_only import NoGPU

# --8<-- [start:imports]
from typing import Any

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

from kernels.matmul.epilogue import Epilogue, Launch, descriptor_factory, known_step, matmul_activated, matmul_known, matmul_tile
# --8<-- [end:imports]

from kernels.matmul.gluon import gluon_descriptor, matmul_gluon, matmul_gluon_kernel

if not torch.cuda.is_available():
    print("No CUDA device found: the kernel is compiled and not run. Gluon has no interpreter.")
    driver.set_active(NoGPU())
device = "cuda" if torch.cuda.is_available() else "cpu"
a, b, c = torch.randint(-4, 5, (3, 400, 400), device=device).bfloat16().unbind()
descriptors = gluon_descriptor(a, 64, 64), gluon_descriptor(b, 64, 128), *(gluon_descriptor(c, 64, 64) for _ in range(2))
constants = {"A_T": False, "B_T": False, "FINISH": (False, False, None), "BLOCK_N": 128, "BLOCK_K": 64, "STAGES": 5}
options = {"N_STEP": 16, "GROUP_M": 8, "REGISTERS": 160, "num_warps": 4, "maxnreg": 128}
made = matmul_gluon_kernel.warmup(*descriptors, c, c, c, 400, 400, 400, 400, **constants, **options, grid=(9,))
ptx = made.asm["ptx"]
print("products:", *sorted(set(re.findall(r"wgmma\S+(m64n\d+k16)", ptx))), "shared:", made.metadata.shared)
print("registers:", *sorted(set(map(int, re.findall(r"setmaxnreg\S+\s+(\d+)", ptx)))))
#> products: m64n128k16 shared: 229604
#> registers: 24 80 160 168 256

if torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0):
    configuration = {"BLOCK_M": 192, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 4, "num_stages": 5, "programs": 4}
    launch = matmul_gluon(a, b, c, Epilogue(), "tf32", configuration)
    launch(a, b, c, Epilogue())
    print(torch.equal(c, (a.float() @ b.float()).bfloat16()))
