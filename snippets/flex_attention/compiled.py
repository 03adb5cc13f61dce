"""FlexAttention compiled for each of the seven variants: held against matrices in float64, and its launches counted."""
# needs: cuda
import sys

import torch
import torch._functorch.config
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.flex_attention.variants import (
    alibi_of, causal, documents_of, prefix_of, relative_of, soft_cap_of, window_of, written_out,
)  # fmt: skip
from snippets.inductor.captured import launched

torch._functorch.config.donated_buffer = False  # a backward pass runs more than once
heads, tokens, width = 4, 1024, 64
position = torch.arange(tokens, device="cuda")
distance = position[:, None] - position
document = torch.bucketize(position, torch.tensor([300, 420, 900], device="cuda"), right=True)
slopes = 0.5 ** torch.arange(1, heads + 1, device="cuda")
bias = torch.randn(heads, 128, device="cuda", requires_grad=True)
past, same = distance >= 0, document[:, None] == document
CASES = {  # for each: what flex_attention is given, and the same as matrices
    "causal": (None, causal, past, None),
    "sliding window": (None, window_of(256), past & (distance < 256), None),
    "documents": (None, documents_of(document), past & same, None),
    "prefix": (None, prefix_of(200), past | (position < 200), None),
    "ALiBi": (alibi_of(slopes), causal, past, lambda s: s - slopes[:, None, None] * distance),
    "relative bias": (relative_of(bias), causal, past, lambda s: s + bias.double()[:, distance.clamp(0, 127)]),
    "soft cap": (soft_cap_of(20.0), causal, past, lambda s: 20 * (s / 20).tanh()),
}


# --8<-- [start:call]
q, k, v, gradient = torch.randn(4, 1, heads, tokens, width, device="cuda").bfloat16().unbind()
mask = create_block_mask(causal, None, None, tokens, tokens, device="cuda")
flex = torch.compile(flex_attention, fullgraph=True)
result = flex(q, k, v, score_mod=soft_cap_of(20.0), block_mask=mask)
# --8<-- [end:call]


def both_ways(score_mod, mask_mod, leaves, options):
    """Compile FlexAttention for one variant; return it with its block mask, its result and the gradients."""
    torch.compiler.reset()
    mask = create_block_mask(mask_mod, None, None, tokens, tokens, device="cuda")
    flex = torch.compile(flex_attention, dynamic=False)
    out = flex(*leaves[:3], score_mod, mask, kernel_options=options)
    return flex, mask, out, torch.autograd.grad(out, leaves, gradient, retain_graph=True)


def relative_error(found, wanted):
    return ((found.double() - wanted).norm() / wanted.norm()).item()


kept = {}
print("kernels launched   eager  forward  backward   error")
for name, (score_mod, mask_mod, allowed, change) in CASES.items():
    leaves = [x.clone().requires_grad_() for x in (q, k, v)] + [bias] * (name == "relative bias")
    options = {"num_stages": 1} if name == "relative bias" else None
    flex, mask, out, grads = both_ways(score_mod, mask_mod, leaves, options)
    exact = [x.detach().double().requires_grad_() for x in (q, k, v)] + leaves[3:]
    wanted = written_out(*exact[:3], allowed, change)
    wanted_grads = torch.autograd.grad(wanted, exact, gradient.double())
    errors = [relative_error(*pair) for pair in zip((out, *grads), (wanted, *wanted_grads), strict=True)]
    assert max(errors) < 1.6e-2, (name, errors)
    with torch.no_grad():
        eager = launched(lambda s=score_mod, m=mask: flex_attention(q, k, v, s, m))
    forward = launched(lambda f=flex, x=leaves, s=score_mod, m=mask, o=options: f(*x[:3], s, m, kernel_options=o))
    backward = launched(lambda out=out, x=leaves: torch.autograd.grad(out, x, gradient, retain_graph=True))
    kept[name] = {"eager": len(eager), "forward": len(forward), "backward": len(backward), "error": max(errors)}
    print(f"{name:18} {len(eager):5} {len(forward):8} {len(backward):9}   {max(errors):.1e}", flush=True)
keep(figures=kept)
