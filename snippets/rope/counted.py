"""Where an embedding in place is ahead: ours and Liger-Kernel's, for the hardware's counters to watch."""
# needs: cuda
# counters: ours_two liger_two ours_back_1024 liger_back_1024 ours_back_80 liger_back_80
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.rotary_embedding import rotary_embedding

ways = {"ours": rotary_embedding}
try:
    from liger_kernel.transformers.functional import liger_rope

    ways["liger"] = liger_rope
except ImportError:
    print("liger-kernel is not installed: it is left out")


def heads_of(batches, tokens, heads, width):
    return torch.randn(batches, tokens, heads, width, device="cuda", dtype=torch.bfloat16).transpose(1, 2)


# --8<-- [start:counted]
CASES = {"two": (2, 4096, 32, 8, 128), "back_1024": (1, 1024, 32, 8, 128), "back_80": (2, 4001, 20, 20, 80)}
for case, (batches, tokens, queries, keys, width) in CASES.items():
    frequencies = 10000.0 ** -torch.linspace(0, 1, width // 2, device="cuda")
    angles = torch.outer(torch.arange(tokens, device="cuda"), frequencies)
    half = angles.cos().bfloat16(), angles.sin().bfloat16()
    whole = tuple(torch.cat((table, table), -1)[None] for table in half)
    for name, way in ways.items():
        if sys.argv[1:] not in ([], [f"{name}_{case}"]):
            continue  # the profiler watches one way a run
        q, k = (heads_of(batches, tokens, heads, width).requires_grad_("back" in case) for heads in (queries, keys))
        given = [heads_of(batches, tokens, heads, width) for heads in (queries, keys)]  # gradients of what comes out
        tables = half if name == "ours" else whole

        def call():
            if "back" not in case:
                return way(q, k, *tables)
            return torch.autograd.grad(out, (q, k), given, retain_graph=True)

        # Liger-Kernel turns its inputs in place, which no leaf allows.
        out = way(q * 1, k * 1, *tables) if "back" in case else None
        call()  # compiles
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        call()
        torch.cuda.profiler.stop()
        print(f"{name}, {case}: {batches} sequences of {tokens}, {2 * (q.nbytes + k.nbytes):,} bytes at least")
# --8<-- [end:counted]
