"""Norms with an addition or of groups, a head with its loss, a mixture of experts, at odd shapes: for sanitizers to watch."""
# needs: cuda
# sanitizers: memcheck racecheck initcheck synccheck
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.linear_cross_entropy import linear_cross_entropy
from kernels.moe import moe
from kernels.norm import add_rms_norm, group_norm

LAUNCHED = set()
triton.knobs.runtime.launch_enter_hook.add(lambda metadata: LAUNCHED.add(metadata.get()["name"]))


def random(*shape, dtype=torch.float32):
    return torch.randn(shape, device="cuda").to(dtype)


def back(results, *leaves):
    """The gradients of all results, which have to be finite, as the results do."""
    gradients = torch.autograd.grad(results, leaves, [torch.randn_like(y) for y in results])
    assert all(torch.isfinite(tensor).all() for tensor in (*results, *gradients))


for dtype in (torch.float32, torch.bfloat16):
    for rows, columns in ((1, 1), (129, 3), (37, 127), (3, 1024), (5, 2047), (3, 8192)):
        sides = (rows, columns), (rows, columns), (columns,)
        x, residual, weight = (random(*shape, dtype=dtype).requires_grad_() for shape in sides)
        back(add_rms_norm(x, residual, weight, 1e-6), x, residual, weight)
    for shape, groups in (((3, 6), 3), ((2, 6, 7, 5), 2), ((2, 4, 4099), 2), ((1, 300, 33), 1)):
        x, weight, bias = (random(*sides, dtype=dtype).requires_grad_() for sides in (shape, shape[1:2], shape[1:2]))
        back((group_norm(x, groups, weight, bias),), x, weight, bias)
    for rows, hidden, classes in ((1, 16, 3), (67, 24, 129), (5, 40, 5001)):
        x, weight = (random(*shape, dtype=dtype).requires_grad_() for shape in ((rows, hidden), (classes, hidden)))
        target = torch.randint(classes, (rows,), device="cuda")
        loss = linear_cross_entropy(x, weight, target, chunk_rows=16)
        back((2 * loss,), x, weight)
    for tokens, experts, k, width, hidden in ((1, 4, 1, 16, 24), (33, 7, 3, 48, 40), (129, 64, 8, 72, 16)):
        x, logits = random(tokens, width, dtype=dtype), random(tokens, experts, dtype=dtype)
        gate, up, down = (random(experts, *sides, dtype=dtype) for sides in ((hidden, width), (hidden, width), (width, hidden)))
        assert torch.isfinite(moe(x, logits, gate, up, down, k)).all()
torch.cuda.synchronize()
print(f"{len(LAUNCHED)} kernels launched, every result finite:")
print(*sorted(LAUNCHED), sep="\n")
