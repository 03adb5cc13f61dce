"""Time five variants of attention, forward and backward: FlexAttention compiled, the library's attention, and PyTorch's."""
# needs: cuda
import sys

import torch
import torch._functorch.config
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.attention import attention
from kernels.attention import attention_packed
from kernels.tools.benchmark import Benchmark
from snippets.flex_attention.variants import alibi_of, causal, documents_of, soft_cap_of, window_of, written_out

heads, tokens, width, span = 16, 8192, 128, 1024
position = torch.arange(tokens, device="cuda")
distance = position[:, None] - position
past = distance >= 0
ends = torch.tensor([2100, 3600, 4900, 5900, 6800, 7400, 7900], device="cuda")
document = torch.bucketize(position, ends, right=True)
cuts = torch.cat([ends.new_zeros(1), ends, ends.new_full((1,), tokens)]).int()
slopes = 0.5 ** (torch.arange(1, heads + 1, device="cuda") / 2)


def packed(q, k, v):
    rows = [x[0].transpose(0, 1) for x in (q, k, v)]
    return attention_packed(*rows, cuts, cuts, is_causal=True).transpose(0, 1)[None]


def minus_infinity(score, batch, head, query, key):
    return torch.where((query >= key) & (query - key < span), score, -float("inf"))


def alibi_bias():
    return (-slopes[:, None, None] * distance).masked_fill(~past, float("-inf")).bfloat16()[None]


# For each variant: what FlexAttention is given, what may be seen, the change of head h as matrices, and the other ways.
inside, same = past & (distance < span), past & (document[:, None] == document)
VARIANTS = {
    "causal": (None, causal, past, None, {
        "blockwise": lambda q, k, v: attention(q, k, v, is_causal=True),
        "sdpa": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    }),
    "window": (None, window_of(span), inside, None, {
        "blockwise": lambda q, k, v: attention(q, k, v, window=(span - 1, 0)),
        "sdpa": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=inside),
    }),
    "documents": (None, documents_of(document), same, None, {
        "blockwise": packed,
        "sdpa": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=same),
    }),
    "alibi": (alibi_of(slopes), causal, past, lambda s, h: s - slopes[h] * distance, {}),
    "soft_cap": (soft_cap_of(20.0), causal, past, lambda s, h: 20 * (s / 20).tanh(), {}),
}  # fmt: skip


def expected(inputs, gradient, allowed, change):
    """The output and the three gradients in float64, head by head, because a head's scores are half a gigabyte."""
    heads_of = []
    for h in range(heads):
        q, k, v = (x[0, h].detach().double().requires_grad_() for x in inputs)
        out = written_out(q, k, v, allowed, change and (lambda s, h=h: change(s, h)))
        heads_of.append([out.detach(), *torch.autograd.grad(out, (q, k, v), gradient[0, h].double())])
    return [torch.stack(parts)[None] for parts in zip(*heads_of, strict=True)]


benchmark = Benchmark()
torch._functorch.config.donated_buffer = False  # the same backward pass is run many times
inputs = [torch.randn(1, heads, tokens, width, device="cuda").bfloat16().requires_grad_() for _ in range(3)]
gradient, shape = torch.randn_like(inputs[0]), f"1x{heads}x{tokens}x{width}"
for name, (score_mod, mask_mod, allowed, change, others) in VARIANTS.items():
    torch.compiler.reset()
    flex = torch.compile(flex_attention, dynamic=False)
    mask = create_block_mask(mask_mod, None, None, tokens, tokens, device="cuda")
    ways = dict(others)
    if name == "alibi":
        bias = alibi_bias()
        ways["sdpa"] = lambda q, k, v, bias=bias: F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    ways["flex"] = lambda q, k, v, f=flex, s=score_mod, m=mask: f(q, k, v, score_mod=s, block_mask=m)
    wanted = expected(inputs, gradient, allowed, change)
    outs = {way: call(*inputs) for way, call in ways.items()}
    for way, out in outs.items():
        for found, exact in zip(torch.autograd.grad(out, inputs, gradient, retain_graph=True), wanted[1:], strict=True):
            assert ((found.double() - exact).norm() / exact.norm()).item() < 1.6e-2, (name, way)
    flops = 4 * width * heads * int(allowed.sum())
    calls = {way: lambda call=call: call(*inputs).detach() for way, call in ways.items()}
    if name == "window":
        plain = [x.detach() for x in inputs]
        calls["minus_infinity"] = lambda f=flex, x=plain: f(*x, score_mod=minus_infinity)
    benchmark.case(f"flex_{name}", "fwd", shape, torch.bfloat16, 4 * gradient.nbytes, flops, calls, wanted[0])
    calls = {way: lambda out=out: torch.autograd.grad(out, inputs, gradient, retain_graph=True)[0] for way, out in outs.items()}
    benchmark.case(f"flex_{name}", "bwd", shape, torch.bfloat16, 8 * gradient.nbytes, flops * 5 // 2, calls, wanted[1])
    del outs, wanted
benchmark.finish()
