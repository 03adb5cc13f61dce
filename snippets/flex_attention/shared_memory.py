"""A learned bias whose gathered numbers do not fit beside the tiles: what the compiler says, and options that make room."""
# needs: cuda
import re
import sys

import torch
from torch.nn.attention.flex_attention import flex_attention

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep

# --8<-- [start:shared_memory]
bias = torch.zeros(4, 128, device="cuda")


def relative(score, batch, head, query, key):
    return score + bias[head, (query - key).clamp(0, 127)]


q, k, v = torch.randn(3, 1, 4, 1024, 64, device="cuda").bfloat16().unbind()
kept = {}
for options in (None, {"num_stages": 2}):
    torch.compiler.reset()
    flex = torch.compile(flex_attention, dynamic=False)
    try:
        flex(q, k, v, score_mod=relative, kernel_options=options)
        said = "compiles"
    except Exception as error:
        required, limit = map(int, re.search(r"Required: (\d+) Hardware limit: *(\d+)", str(error)).groups())
        said = f"{type(error).__name__}: {required} bytes of shared memory required, {limit} there"
        kept |= {"required": required, "limit": limit}
    print(options, said)
    # --8<-- [end:shared_memory]
    kept[str(options and options["num_stages"])] = said == "compiles"
keep(figures=kept)
