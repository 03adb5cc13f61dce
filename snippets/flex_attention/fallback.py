"""When FlexAttention is compiled for one function too many, it runs eagerly: what a call launches and holds in memory."""
# needs: cuda
import sys
import warnings

import torch
from torch.nn.attention.flex_attention import flex_attention

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.inductor.captured import launched

warnings.simplefilter("ignore")
q, k, v = torch.randn(3, 1, 16, 4096, 128, device="cuda").bfloat16().unbind()
# --8<-- [start:fallback]
SCORE_MODS = [
    lambda score, batch, head, query, key: score * 2,
    lambda score, batch, head, query, key: score + (query - key),
]
flex = torch.compile(flex_attention, dynamic=False)
kept = []
with torch._dynamo.config.patch(recompile_limit=1):  # it is 8 unless somebody changes it
    for score_mod in SCORE_MODS:
        kernels = launched(lambda mod=score_mod: flex(q, k, v, score_mod=mod))
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        flex(q, k, v, score_mod=score_mod)
        peak = torch.cuda.max_memory_allocated() - before
        print(f"{len(kernels)} kernels, {peak / 2**20:.0f} MiB")
        kept.append({"kernels": len(kernels), "bytes": peak})
# --8<-- [end:fallback]
keep(figures={"compiled": kept[0], "fallen": kept[-1], "result_bytes": q.nbytes, "score_bytes": 16 * 4096 * 4096 * 4})
