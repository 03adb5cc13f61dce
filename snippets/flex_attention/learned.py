"""Time attention with a learned number for each head and distance, and with the gradient of those numbers."""
# needs: cuda
import sys

import torch
import torch._functorch.config
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark
from snippets.flex_attention.variants import causal, relative_of, written_out

heads, tokens, width, distances = 16, 8192, 128, 1024
position = torch.arange(tokens, device="cuda")
past = position[:, None] >= position
distance = (position[:, None] - position).clamp(0, distances - 1)

benchmark = Benchmark()
torch._functorch.config.donated_buffer = False  # the same backward pass is run many times
torch.manual_seed(0)
q, k, v = (torch.randn(1, heads, tokens, width, device="cuda").bfloat16().requires_grad_() for _ in range(3))
bias = torch.randn(heads, distances, device="cuda", requires_grad=True)
inputs, gradient, shape = (q, k, v, bias), torch.randn_like(q), f"1x{heads}x{tokens}x{width}"
compiled = torch.compile(flex_attention, dynamic=False)
mask = create_block_mask(causal, None, None, tokens, tokens, device="cuda")


def flex(q, k, v, bias):
    return compiled(q, k, v, score_mod=relative_of(bias), block_mask=mask)


def sdpa(q, k, v, bias):
    matrix = bias[:, distance].masked_fill(~past, float("-inf")).bfloat16()[None]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=matrix)


def expected():
    """The output and the four gradients in float64, head by head, because a head's scores are half a gigabyte."""
    parts = []
    for h in range(heads):
        own = [x[0, h].detach().double().requires_grad_() for x in (q, k, v)] + [bias[h].detach().double().requires_grad_()]
        out = written_out(*own[:3], past, lambda s, own=own: s + own[3][distance])
        parts.append([out.detach(), *torch.autograd.grad(out, own, gradient[0, h].double())])
    out, dq, dk, dv, dbias = (torch.stack(each) for each in zip(*parts, strict=True))
    return [out[None], dq[None], dk[None], dv[None], dbias]


def backward(out, wanted):
    return torch.autograd.grad(out, wanted, gradient, retain_graph=True)


wanted, flops = expected(), 4 * width * heads * int(past.sum())
outs = {name: call(*inputs) for name, call in (("flex", flex), ("sdpa", sdpa))}
for name, out in outs.items():
    for found, exact, bound in zip(backward(out, inputs), wanted[1:], [1.6e-2] * 3 + [3e-2], strict=True):
        assert ((found.double() - exact).norm() / exact.norm()).item() < bound, name
plain = [x.detach() for x in inputs]
calls = {"flex": lambda: flex(*plain), "sdpa": lambda: sdpa(*plain)}
benchmark.case("flex_relative", "fwd", shape, torch.bfloat16, 4 * gradient.nbytes, flops, calls, wanted[0])
calls = {name: lambda out=out: backward(out, inputs)[0] for name, out in outs.items()}
frozen = compiled(q, k, v, score_mod=relative_of(bias.detach()), block_mask=mask)
calls["flex_frozen"] = lambda: backward(frozen, (q, k, v))[0]
benchmark.case("flex_relative", "bwd", shape, torch.bfloat16, 8 * gradient.nbytes, flops * 5 // 2, calls, wanted[1])
benchmark.finish()
