"""Time the gradients of kernels.attention beside cuDNN, PyTorch's flash attention and compiled FlexAttention."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

from kernels.tools.benchmark import keep
from snippets.attention_peers.peers import backward_case
from snippets.attention_peers.peers import benchmark_after_compiling
from snippets.attention_peers.peers import causal_mask
from snippets.attention_peers.peers import dense_peers
from snippets.attention_peers.peers import leads
from snippets.attention_peers.peers import normal
from snippets.attention_peers.peers import open_pairs

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
TOKENS, CHANNELS = 16384, 2048
PARTS = ("out", "dq", "dk", "dv")
LENGTHS = (1024, 4096, 16384)
figures = {"errors": {}}
benchmark = benchmark_after_compiling()
for head in (64, 128, 256):
    for length in LENGTHS:
        for is_causal in (False, True):
            sides = TOKENS // length, CHANNELS // head, length, head
            inputs = [normal(*sides) for _ in range(3)]
            op, mask = ("attention_causal", causal_mask) if is_causal else ("attention", None)
            shape = "x".join(map(str, sides))
            peers, pairs = dense_peers(length, is_causal), open_pairs(length, is_causal)
            del peers["tutorial"]  # which is here without its gradient
            errors = backward_case(benchmark, op, shape, peers, inputs, pairs, mask)
            if length == 4096 and is_causal:
                figures["errors"][f"hd{head}"] = {name: dict(zip(PARTS, each, strict=False)) for name, each in errors.items()}
figures["times_ours"] = means = leads(benchmark.measurements, ("attention", "attention_causal"))
print("times as long as ours, in the geometric mean:", {name: round(mean, 3) for name, mean in means.items()})
for length in (8192,):
    inputs = [normal(TOKENS // length, heads, length, 128) for heads in (32, 8, 8)]
    peers, pairs = dense_peers(length, True, True), open_pairs(length, True)
    backward_case(benchmark, "attention_gqa", f"{TOKENS // length}x32x8x{length}x128", peers, inputs, pairs, causal_mask)
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
