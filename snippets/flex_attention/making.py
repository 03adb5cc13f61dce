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
print("tokens   attention   made eagerly   made compiled   peak eager   peak compiled   kept")
for tokens in (8192, 32768):
    q, k, v = torch.randn(3, 1, 16, tokens, 128, device="cuda").bfloat16().unbind()
    mask = make(tokens)
    calls = {
        "attention": lambda q=q, k=k, v=v, mask=mask: flex(q, k, v, block_mask=mask),
        "eager": lambda n=tokens: make(n),
        "compiled": lambda n=tokens: make(n, compiled_maker),
    }
    for call in calls.values():
        call()
    us = {name: statistics.median(times) * 1e3 for name, times in zip(calls, alternate(list(calls.values())), strict=True)}
    peaks = {name: peak_of(calls[name]) for name in ("eager", "compiled")}
    figures[str(tokens)] = {
        "us": us, "eager_bytes": peaks["eager"][0], "compiled_bytes": peaks["compiled"][0], "kept_bytes": peaks["eager"][1],
    }  # fmt: skip
    times = f"{us['attention']:8.0f} us  {us['eager']:10.0f} us  {us['compiled']:11.0f} us"
    print(f"{tokens:6} {times} {peaks['eager'][0] / 2**20:8.0f} MiB {peaks['compiled'][0] / 2**20:11.0f} MiB", end="")
    print(f" {peaks['eager'][1] / 2**10:7.0f} KiB", flush=True)
keep(figures=figures)
