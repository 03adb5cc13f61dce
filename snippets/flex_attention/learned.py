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

from kernels.tools.benchmark import Benchmark, keep
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
mask = create_block_mask(causal, None, None, tokens, tokens, device="cuda")


def flex_in(stages):
    """FlexAttention, compiled for so many tiles on their way."""
    compiled = torch.compile(flex_attention, dynamic=False)
    options = {"num_stages": stages}
    return lambda q, k, v, bias: compiled(q, k, v, score_mod=relative_of(bias), block_mask=mask, kernel_options=options)


def sdpa(q, k, v, bias):
    matrix = F.embedding(distance, bias.T).permute(2, 0, 1).masked_fill(~past, float("-inf"))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=matrix.bfloat16().contiguous()[None])


def expected():
    """The output and the four gradients in float64, head by head, because a head's scores are half a gigabyte."""
    parts = []
    for h in range(heads):
        own = [x[0, h].detach().double().requires_grad_() for x in (q, k, v)]
        added = bias[h].detach().double()[distance].requires_grad_()
        out = written_out(*own, past, added.add)
        *of_rows, of_scores = torch.autograd.grad(out, (*own, added), gradient[0, h].double())
        of_bias = torch.bincount(distance.flatten(), of_scores.flatten(), distances)
        parts.append([out.detach(), *of_rows, of_bias])
    out, dq, dk, dv, dbias = (torch.stack(each) for each in zip(*parts, strict=True))
    return [out[None], dq[None], dk[None], dv[None], dbias]


def backward(out, wanted):
    return torch.autograd.grad(out, wanted, gradient, retain_graph=True)


def most_stages():
    """The most tiles on their way that leave room in shared memory for the gathered numbers, forward and backward."""
    for stages in (3, 2, 1):
        torch.compiler.reset()
        flex = flex_in(stages)
        try:
            backward(flex(*inputs), inputs)
            return stages, flex
        except Exception as error:
            if "out of resource" not in str(error):
                raise
    raise RuntimeError("The gathered numbers do not fit into shared memory.")


wanted, flops = expected(), 4 * width * heads * int(past.sum())
stages, flex = most_stages()
print(f"num_stages: {stages}")
outs = {name: call(*inputs) for name, call in (("flex", flex), ("sdpa", sdpa))}
for name, out in outs.items():
    for found, exact, bound in zip(backward(out, inputs), wanted[1:], [1.6e-2] * 3 + [3e-2], strict=True):
        assert ((found.double() - exact).norm() / exact.norm()).item() < bound, name
plain = [x.detach() for x in inputs]
calls = {"flex": lambda: flex(*plain), "sdpa": lambda: sdpa(*plain)}
benchmark.case("flex_relative", "fwd", shape, torch.bfloat16, 4 * gradient.nbytes, flops, calls, wanted[0])
calls = {name: lambda out=out: backward(out, inputs)[0] for name, out in outs.items()}
frozen = flex(q, k, v, bias.detach())
calls["flex_frozen"] = lambda: backward(frozen, (q, k, v))[0]
benchmark.case("flex_relative", "bwd", shape, torch.bfloat16, 8 * gradient.nbytes, flops * 5 // 2, calls, wanted[1])
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"stages": stages})
