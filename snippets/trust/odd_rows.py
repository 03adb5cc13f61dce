"""Every kernel that works along rows, forward and backward, at shapes that fit nothing: for Compute Sanitizer to watch."""
# needs: cuda
# sanitizers: memcheck racecheck initcheck synccheck
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.cross_entropy import cross_entropy
from kernels.norm import layer_norm
from kernels.norm import rms_norm
from kernels.softmax import softmax

LAUNCHED = set()
triton.knobs.runtime.launch_enter_hook.add(lambda metadata: LAUNCHED.add(metadata.get()["name"]))


def both_ways(function, *inputs):
    """A call and its gradient, in every dtype."""
    for dtype in (torch.float32, torch.bfloat16):
        leaves = [x.to(dtype).requires_grad_() for x in inputs]
        y = function(*leaves)
        gradients = torch.autograd.grad(y, leaves, torch.randn(y.shape, device="cuda").to(y.dtype))
        assert all(torch.isfinite(tensor).all() for tensor in (y, *gradients)), (function, dtype)


def random(*shape):
    return torch.randn(shape, device="cuda")


SHAPES = [(1, 1), (129, 1), (67, 3), (37, 127), (3, 1024), (5, 2047), (3, 4097), (2, 33333), (65, 17001), (65, 33333)]
for rows, columns in [*SHAPES, (2, 70001)]:
    x, weight, bias = random(rows, columns), random(columns), random(columns)
    both_ways(softmax, x)
    both_ways(layer_norm, x, weight, bias)
    both_ways(rms_norm, x, weight)
    target = torch.randint(columns, (rows,), device="cuda")
    target[::2] = -100
    both_ways(lambda x, target=target: cross_entropy(x, target, reduction="sum"), x)
    both_ways(lambda x: softmax(x, dim=0), x)
    x = x.detach()  # what wants no gradient has kernels of its own
    softmax(x[:, ::2]), layer_norm(x), rms_norm(x[:, ::2])
    cross_entropy(x, target, reduction="sum")
torch.cuda.synchronize()
print(f"{len(LAUNCHED)} kernels launched, every result finite:")
print(*sorted(LAUNCHED), sep="\n")
