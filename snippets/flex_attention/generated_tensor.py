"""What becomes of a tensor that a mask_mod or a score_mod reads: loads in the kernel, and a gradient by atomic additions."""
# needs: cuda
import re
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from torch._inductor import config
from torch._inductor.utils import run_and_get_code
from torch.nn.attention.flex_attention import flex_attention

from snippets.inductor.captured import kernels_of

# --8<-- [start:tensor]
bias = torch.zeros(4, 128, device="cuda", requires_grad=True)


def relative(score, batch, head, query, key):
    return score + bias[head, (query - key).clamp(0, 127)]


q, k, v = [torch.randn(1, 4, 1024, 64, device="cuda").bfloat16().requires_grad_() for _ in range(3)]
flex, options = torch.compile(flex_attention, dynamic=False), {"num_stages": 1}
with config.patch(force_disable_caches=True):
    _, programs = run_and_get_code(lambda: flex(q, k, v, relative, kernel_options=options).sum().backward())
for made, text in [kernel for program in programs for kernel in kernels_of(program)]:
    if made == "template":
        print(text.partition("(")[0])
        lines = [line.strip() for line in text.splitlines()]
        print(*(f"    {line}" for line in lines if "tl.atomic_add(" in line or re.match(r"tmp\d+ = tl.load\(", line)), sep="\n")
# --8<-- [end:tensor]

# --8<-- [start:bits]
leaves, same = {"q": q, "k": k, "v": v, "bias": bias}, {}
runs = [torch.autograd.grad(flex(q, k, v, relative, kernel_options=options).sum(), list(leaves.values())) for _ in range(5)]
for name, *grads in zip(leaves, *runs, strict=True):
    same[name] = all(torch.equal(grads[0], grad) for grad in grads)
print("the same in five runs:", same)
# --8<-- [end:bits]
