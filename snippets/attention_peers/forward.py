"""Time kernels.attention forward beside cuDNN, PyTorch's flash attention, compiled FlexAttention and the tutorial's method."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.attention_peers.peers import benchmark_after_compiling
from snippets.attention_peers.peers import causal_mask
from snippets.attention_peers.peers import dense_peers
from snippets.attention_peers.peers import forward_case
from snippets.attention_peers.peers import leads
from snippets.attention_peers.peers import normal
from snippets.attention_peers.peers import open_pairs

TOKENS, CHANNELS = 16384, 2048
LENGTHS = (1024, 4096, 16384)
benchmark = benchmark_after_compiling()
for head in (64, 128, 256):
    for length in LENGTHS:
        for is_causal in (False, True):
            sides = TOKENS // length, CHANNELS // head, length, head
            inputs = [normal(*sides) for _ in range(3)]
            op, mask = ("attention_causal", causal_mask) if is_causal else ("attention", None)
            shape = "x".join(map(str, sides))
            forward_case(benchmark, op, shape, dense_peers(length, is_causal), inputs, open_pairs(length, is_causal), mask)
means = leads(benchmark.measurements, ("attention", "attention_causal"))
print("times as long as ours, in the geometric mean:", {name: round(mean, 3) for name, mean in means.items()})
for length in (8192,):
    inputs = [normal(TOKENS // length, heads, length, 128) for heads in (32, 8, 8)]
    peers, pairs = dense_peers(length, True, True), open_pairs(length, True)
    forward_case(benchmark, "attention_gqa", f"{TOKENS // length}x32x8x{length}x128", peers, inputs, pairs, causal_mask)
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"times_ours": means})
