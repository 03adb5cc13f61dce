"""What a block mask costs: the time and the memory to make it, beside the attention that it is made for."""
# needs: cuda
import statistics
import sys

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import alternate, keep
from snippets.flex_attention.variants import window_of


# --8<-- [start:making]
def make(tokens, maker=create_block_mask):
    return maker(window_of(512), None, None, tokens, tokens, device="cuda")


compiled_maker = torch.compile(create_block_mask, dynamic=False)
# --8<-- [end:making]


def peak_of(call):
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    kept = call()
    return torch.cuda.max_memory_allocated() - before, sum(x.nbytes for x in kept.as_tuple(False) if isinstance(x, torch.Tensor))


flex = torch.compile(flex_attention, dynamic=False)
figures = {}
for tokens in (8192, 32768):
    ways = {"eager": lambda n=tokens: make(n)}
    if tokens == 32768:
        q, k, v = torch.randn(3, 1, 16, tokens, 128, device="cuda").bfloat16().unbind()
        ways["compiled"] = lambda n=tokens: make(n, compiled_maker)
        mask = make(tokens)
        ways["attention"] = lambda q=q, k=k, v=v, mask=mask: flex(q, k, v, block_mask=mask)
    for call in ways.values():
        call()
    us = {way: statistics.median(times) * 1e3 for way, times in zip(ways, alternate(list(ways.values())), strict=True)}
    figures[str(tokens)] = {"us": us}
    for way in sorted(ways.keys() - {"attention"}):
        peak, kept = peak_of(ways[way])
        figures[str(tokens)] |= {f"{way}_bytes": peak, "kept_bytes": kept}
        print(f"{tokens} tokens, {way}: {us[way]:.0f} us, {peak / 2**20:.0f} MiB at its peak, {kept / 2**10:.0f} KiB kept")
print(f"attention of {tokens} tokens: {us['attention']:.0f} us")
keep(figures=figures)
