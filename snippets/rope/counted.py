"""Where an embedding in place is ahead: ours and Liger-Kernel's, for the hardware's counters to watch."""
# needs: cuda
# counters: blockwise_4096 liger_4096 blockwise_131072 liger_131072
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.rotary_embedding import rotary_embedding

ways = {"blockwise": rotary_embedding}
try:
    from liger_kernel.transformers.functional import liger_rope

    ways["liger"] = liger_rope
except ImportError:
    print("liger-kernel is not installed: it is left out")


def heads_of(batches, tokens, heads):
    return torch.randn(batches, tokens, heads, 128, device="cuda", dtype=torch.bfloat16).transpose(1, 2)


# --8<-- [start:counted]
for batches, tokens, queries, keys in ((2, 4096, 32, 8), (1, 131072, 8, 1)):
    frequencies = 10000.0 ** -torch.linspace(0, 1, 64, device="cuda")
    angles = torch.outer(torch.arange(tokens, device="cuda"), frequencies)
    half = angles.cos().bfloat16(), angles.sin().bfloat16()
    whole = tuple(torch.cat((table, table), -1)[None] for table in half)
    for name, way in ways.items():
        if sys.argv[1:] in ([], [f"{name}_{tokens}"]):  # the profiler watches one way a run
            q, k = heads_of(batches, tokens, queries), heads_of(batches, tokens, keys)
            tables = half if name == "blockwise" else whole
            way(q, k, *tables)  # compiles
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            way(q, k, *tables)
            torch.cuda.profiler.stop()
            print(f"{name}: {batches} sequences of {tokens}, {2 * (q.nbytes + k.nbytes):,} bytes at least")
# --8<-- [end:counted]
