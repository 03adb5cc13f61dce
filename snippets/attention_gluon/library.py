"""The library's attention in Gluon, causal, with heads of 128: what the compiler makes of it, and on a Hopper GPU its output."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import re

# --8<-- [start:imports]
from typing import Any

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

from kernels.attention.tiles import attention_limits, attention_open, attention_range
# --8<-- [end:imports]

import torch.nn.functional as F
from triton.runtime import driver

from kernels.attention.gluon import attention_gluon_kernel, gluon_described, launch_gluon_forward
from kernels.attention.launch import AttentionMask, strides_of
from kernels.tools.compile_only import NoGPU

on_hopper = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
if not on_hopper:
    print("No Hopper GPU found: the kernel is compiled for one and not run. Gluon has no interpreter.")
    driver.set_active(NoGPU())
torch.manual_seed(0)
q, k, v, out = torch.randn(4, 2, 4, 500, 128, device="cuda" if on_hopper else "cpu").bfloat16().unbind()
lse, scale = torch.empty(q.shape[:3], device=q.device), 128**-0.5 * 1.4426950408889634
descriptors = [gluon_described(x, strides_of(x), rows, 128) for x, rows in ((q, 64), (k, 128), (v, 128), (out, 64))]
constants = {"GROUPS": 2, "BLOCK_N": 128, "STAGES": 2, "HAS_LEFT": False, "HAS_RIGHT": True, "LOWER_RIGHT": False}
options = {"TURNS": True, "REGISTERS": 240, "num_warps": 4, "maxnreg": 168, "grid": (8 * 4,)}
made = attention_gluon_kernel.warmup(*descriptors, lse, 8, 4, 1, 500, 500, -1, 0, 8, scale, **constants, **options)
ptx = made.asm["ptx"]
print("products:", *sorted(set(re.findall(r"wgmma\S+(m64n\d+k16)", ptx))), "shared:", made.metadata.shared)
print("registers:", *sorted(set(map(int, re.findall(r"setmaxnreg\S+\s+(\d+)", ptx)))))
#> products: m64n128k16 shared: 164232
#> registers: 24 120 240 256

if on_hopper:
    tile = {"GROUPS": 2, "BLOCK_N": 128, "STAGES": 2, "TURNS": True, "programs": 132}
    launch_gluon_forward(q, k, v, out, lse, (-1, 0), AttentionMask(right=0), scale, tile, strides_of)
    expected = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
    print("close:", bool((out - expected).norm() < 0.01 * expected.norm()))
