"""Try every height of a tile at several numbers of tokens, for one mixture: what the library's choice is held against."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from dataclasses import replace

from kernels.moe.moe import moe_forward
from kernels.moe.plan import MOE_NAMES, MOE_TILES, moe_plan
from kernels.tools.benchmark import alternate, keep, quantiles

EXPERTS, K, WIDTH, HIDDEN = 128, 8, 2048, 768
FAMILY = "sm_90" if torch.cuda.get_device_capability()[0] >= 9 else "default"
torch.manual_seed(0)
given = (EXPERTS, HIDDEN, WIDTH)
w_gate, w_up = (torch.empty(given, dtype=torch.bfloat16, device="cuda").normal_(std=WIDTH**-0.5) for _ in range(2))
w_down = torch.empty(EXPERTS, WIDTH, HIDDEN, dtype=torch.bfloat16, device="cuda").normal_(std=HIDDEN**-0.5)
figures = {"us": {}, "chosen": {}}
for tokens in (1, 16, 128, 512, 1024, 2048, 8192, 32768):
    x, logits = torch.randn(tokens, WIDTH, device="cuda").bfloat16(), torch.randn(tokens, EXPERTS, device="cuda")
    plan, plans = moe_plan(x, EXPERTS, HIDDEN, K), {}
    for height, tiles in MOE_TILES[FAMILY]["half"].items():
        first, second = (
            old | {"BLOCK_M": height, "programs": 2**30} | dict(zip(MOE_NAMES, tile, strict=True))
            for old, tile in zip((plan.first, plan.second), tiles, strict=True)
        )
        plans[f"{height} pointers"] = replace(plan, block_m=height, first=first | {"DESCRIPTORS": False},
                                              second=second | {"DESCRIPTORS": False})
        if FAMILY == "sm_90":
            plans[f"{height} descriptors"] = replace(plan, block_m=height, first=first | {"DESCRIPTORS": True},
                                                     second=second | {"DESCRIPTORS": True})
    plans["chosen"] = plan
    weights = (w_gate, w_up, w_down)
    times = alternate([lambda plan=plan: moe_forward(x, logits, *weights, K, True, plan) for plan in plans.values()])
    for name, found in zip(plans, times, strict=True):
        figures["us"][f"{tokens} {name}"] = quantiles(found)[1] * 1e3
        print(f"{tokens:6} tokens, {name:16} {quantiles(found)[1] * 1e3:9.1f} us", flush=True)
    figures["chosen"][str(tokens)] = plan.block_m
keep(figures=figures)
