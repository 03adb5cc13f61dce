"""The kernel that torch.compile writes for layer norm, and what it writes for the gradients."""
# needs: cuda
import sys

import torch
import torch.nn.functional as F

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from torch._inductor import config
from torch._inductor.utils import run_and_get_code

from kernels.tools.benchmark import keep
from snippets.inductor.captured import calls_of, captured, launched, show


# --8<-- [start:norm]
def layer_norm(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


x = torch.randn(8192, 4096, device="cuda").bfloat16()
weight, bias = torch.randn(2, 4096, device="cuda").bfloat16().unbind()
compiled, result, program = captured(layer_norm, x, weight, bias)
torch.testing.assert_close(result, layer_norm(x, weight, bias), rtol=2e-2, atol=2e-2)
show(program)
# --8<-- [end:norm]


# --8<-- [start:gradients]
def gradients(function, dy, *inputs):
    leaves = [t.detach().requires_grad_() for t in inputs]
    function(*leaves).backward(dy)
    return [leaf.grad for leaf in leaves]


def compiled_gradients(dy, *inputs):
    return gradients(torch.compile(layer_norm, dynamic=False), dy, *inputs)


dy = torch.randn_like(x)
with config.patch(force_disable_caches=True):
    found, (forward, backward) = run_and_get_code(compiled_gradients, dy, x, weight, bias)
print("\nwith a gradient, forward calls:", ", ".join(calls_of(forward)))
print("backward calls:", ", ".join(calls_of(backward)))
# --8<-- [end:gradients]
for one, other in zip(found, gradients(layer_norm, dy, x, weight, bias), strict=True):
    assert ((one.double() - other.double()).norm() / other.double().norm()).item() < 1.6e-2
names = launched(lambda: compiled(x, weight, bias))
keep(figures={"forward": calls_of(program), "backward": calls_of(backward), "launched": names})
