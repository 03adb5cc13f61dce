"""Try every height of a tile at several numbers of tokens, for one mixture: what the library's choice is held against."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from dataclasses import replace

from kernels.moe.moe import moe_forward
from kernels.moe.plan import MOE_TILES, moe_configuration, moe_plan
from kernels.tools.benchmark import alternate, capture, keep, quantiles

EXPERTS, K, WIDTH, HIDDEN = 128, 8, 2048, 768
FAMILY = "sm_90" if torch.cuda.get_device_capability()[0] >= 9 else "default"
# Tiles that do not ship: two programs fit on a Hopper's multiprocessor, and no register spills.
MORE = {
    32: ((64, 128, 8, 4, 3), (128, 128, 8, 4, 3)),
    64: ((64, 64, 8, 4, 4), (128, 64, 8, 4, 4)),
    128: ((64, 64, 8, 4, 3), (128, 64, 8, 4, 3)),
}
torch.cuda.set_stream(torch.cuda.Stream())  # graphs are captured on the stream that the inputs were made on
torch.manual_seed(0)
processors = torch.cuda.get_device_properties(0).multi_processor_count
given = (EXPERTS, HIDDEN, WIDTH)
w_gate, w_up = (torch.empty(given, dtype=torch.bfloat16, device="cuda").normal_(std=WIDTH**-0.5) for _ in range(2))
w_down = torch.empty(EXPERTS, WIDTH, HIDDEN, dtype=torch.bfloat16, device="cuda").normal_(std=HIDDEN**-0.5)
candidates = [(str(height), height, tiles) for height, tiles in MOE_TILES[FAMILY]["half"].items()]
if FAMILY == "sm_90":
    candidates += [(f"{height} other", height, tiles) for height, tiles in MORE.items()]
figures = {"us": {}, "chosen": {}, "failed": {}}
for tokens in (1, 16, 128, 512, 1024, 2048, 8192, 32768):
    x, logits = torch.randn(tokens, WIDTH, device="cuda").bfloat16(), torch.randn(tokens, EXPERTS, device="cuda")
    chosen = moe_plan(x, EXPERTS, HIDDEN, K)
    plans, calls, active = {"chosen": chosen}, {}, min(EXPERTS, tokens * K)
    share = -(-tokens * K // active)  # of the rows, if the routing is even
    for name, height, tiles in candidates:
        first, second = (
            moe_configuration(height, tile, active * -(-share // height), n_columns, processors)
            for tile, n_columns in zip(tiles, (HIDDEN, WIDTH), strict=True)
        )
        for loads in ("pointers", "descriptors") if FAMILY == "sm_90" else ("pointers",):
            by = {"DESCRIPTORS": loads == "descriptors"}
            plans[f"{name} {loads}"] = replace(chosen, block_m=height, first=first | by, second=second | by)
    for name, plan in plans.items():
        def call(plan=plan):
            return moe_forward(x, logits, w_gate, w_up, w_down, K, True, plan)

        try:
            call()
            torch.cuda.synchronize()
            if not (replay := capture(call)):
                raise RuntimeError("no graph holds it")
            calls[name] = replay
        except Exception as problem:
            figures["failed"][f"{tokens} {name}"] = type(problem).__name__
            print(f"{tokens:6} tokens, {name:22} {type(problem).__name__}", flush=True)
    for name, found in zip(calls, alternate(list(calls.values())), strict=True):
        figures["us"][f"{tokens} {name}"] = quantiles(found)[1] * 1e3
        print(f"{tokens:6} tokens, {name:22} {quantiles(found)[1] * 1e3:9.1f} us", flush=True)
    figures["chosen"][str(tokens)] = chosen.block_m
keep(figures=figures)
