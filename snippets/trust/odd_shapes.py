"""Every other kernel, forward and backward, at shapes that fit nothing: for Compute Sanitizer to watch."""
# needs: cuda
# sanitizers: memcheck racecheck initcheck synccheck
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.add import add
from kernels.dropout import dropout
from kernels.activations import geglu
from kernels.activations import gelu
from kernels.reductions import histogram
from kernels.reductions.max import Max, MaxAlong
from kernels.rotary_embedding import rotary_embedding
from kernels.reductions import sum
from kernels.activations import swiglu

LAUNCHED = set()
triton.knobs.runtime.launch_enter_hook.add(lambda metadata: LAUNCHED.add(metadata.get()["name"]))


def both_ways(function, *inputs):
    """A call and its gradient, in two dtypes."""
    for dtype in (torch.float32, torch.bfloat16):
        leaves = [x.to(dtype).requires_grad_() for x in inputs]
        y = function(*leaves)
        gradients = torch.autograd.grad(y, leaves, torch.randn(y.shape, device="cuda").to(y.dtype))
        assert all(torch.isfinite(tensor).all() for tensor in (y, *gradients)), (function, dtype)


def random(*shape):
    return torch.randn(shape, device="cuda")


for shape in [(1,), (7,), (1023,), (4097,), (3, 129), (131, 33), (5, 7, 11), (2, 65537), (9001, 5), (257, 1024)]:
    x, y, bias = random(*shape), random(*shape), random(shape[-1])
    both_ways(add, x, y)
    both_ways(gelu, x)
    both_ways(lambda x, bias: gelu(x, bias, approximate="tanh"), x, bias)
    both_ways(swiglu, x, y)
    both_ways(geglu, x, y)
    both_ways(lambda x: dropout(x, 0.3, seed=1), x)
    both_ways(lambda x, y: dropout(x, 0.3, seed=1, residual=y), x, y)
    both_ways(sum, x)
    both_ways(Max.apply, x)
    for dim in range(x.ndim):
        both_ways(lambda x, dim=dim: sum(x, dim), x)
        both_ways(lambda x, dim=dim: MaxAlong.apply(x, dim)[0], x)
    histogram(x, 37)
for heads, size in [(1, 2), (3, 10), (5, 64), (4, 128)]:
    q, k, angles = random(2, heads, 13, size), random(2, 1, 13, size), random(13, size // 2)

    def turn(q, k, angles=angles):
        return rotary_embedding(q, k, angles.cos().to(q.dtype), angles.sin().to(q.dtype))

    both_ways(lambda q, k, turn=turn: turn(q, k)[0] + turn(q, k)[1].sum(), q, k)
torch.cuda.synchronize()
print(f"{len(LAUNCHED)} kernels launched, every result finite:")
print(*sorted(LAUNCHED), sep="\n")
