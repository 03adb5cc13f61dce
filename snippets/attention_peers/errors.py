"""How far attention in bfloat16 and its gradients are from float64: ours and the peers', on the same random inputs."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.attention_peers.peers import causal_mask
from snippets.attention_peers.peers import dense_peers
from snippets.attention_peers.peers import exact
from snippets.attention_peers.peers import normal
from snippets.attention_peers.peers import relative_error
from snippets.attention_peers.peers import that_run

LENGTH = 4096
torch.manual_seed(0)
figures = {}
for head in (64, 128, 256):
    leaves = [normal(1, 2, LENGTH, head).requires_grad_() for _ in range(3)]
    dout = torch.randn_like(leaves[0])
    expected = exact(*leaves, dout, causal_mask)
    figures[f"hd{head}"] = {}
    for name, run in that_run(dense_peers(LENGTH, True), leaves).items():
        out = run(*leaves)
        found = [out.detach()]
        if out.requires_grad:
            found += torch.autograd.grad(out, leaves, dout)
        # The expected output has a dimension for the queries that share a head of keys, of which there is one.
        errors = [relative_error(x[-1, -1], right.squeeze(0)) for x, right in zip(found, expected, strict=False)]
        figures[f"hd{head}"][name] = dict(zip(("out", "dq", "dk", "dv"), errors, strict=False))
        print(f"heads of {head:3} {name:9} {', '.join(f'{error:.2e}' for error in errors)}")
keep(figures=figures)
