"""The peak memory of attention and its gradient, beyond the inputs: ours, the peers', and with the scores in memory."""
# needs: cuda
import gc
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from torch.nn.attention import SDPBackend

from kernels.tools.benchmark import keep
from snippets.attention_peers.peers import by_backend
from snippets.attention_peers.peers import dense_peers
from snippets.attention_peers.peers import normal
from snippets.attention_peers.peers import that_run


def peak_of(call, held):
    """The most bytes that were in use at once during a call, beyond those held before."""
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    kept = call()
    torch.cuda.synchronize()
    del kept
    return torch.cuda.max_memory_allocated() - held


def forward_and_backward(run, leaves, dout):
    out = run(*leaves)
    return torch.autograd.grad(out, leaves, dout)


SIDES = 4, 16, 4096, 128
leaves, dout = [normal(*SIDES).requires_grad_() for _ in range(3)], normal(*SIDES)
inputs = [x.detach() for x in leaves]
figures = {"tensor": dout.nbytes, "forward": {}, "training": {}}
peers = that_run(dense_peers(SIDES[2], True) | {"math": by_backend(SDPBackend.MATH, True)}, inputs)
gc.collect()
held = torch.cuda.memory_allocated()  # the inputs, and what cuBLAS keeps for itself
for name, run in peers.items():
    figures["forward"][name] = peak_of(lambda run=run: run(*inputs), held)
for name, run in peers.items():
    if name != "tutorial":  # which is here without its gradient
        forward_and_backward(run, leaves, dout)  # compiles, and allocates what stays
        figures["training"][name] = peak_of(lambda run=run: forward_and_backward(run, leaves, dout), held)
for name in peers:
    told = [f"{way} {figures[way][name] / 2**20:.0f} MiB" for way in ("forward", "training") if name in figures[way]]
    print(f"{name:9} {', '.join(told)}; one tensor has {figures['tensor'] / 2**20:.0f} MiB")
keep(figures=figures)
