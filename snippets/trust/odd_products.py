"""Every kernel for matrix products, forward and backward, at shapes that fit nothing: for Compute Sanitizer to watch."""
# needs: cuda
# sanitizers: memcheck racecheck initcheck synccheck
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.layer_norm_linear import layer_norm_linear
from kernels.matmul import matmul
from kernels.matmul.plan import matmul_plan
from kernels.matmul import scaled_matmul

# Initcheck does not see what a tensor descriptor stores (unseen_store.py). So PyTorch fills every new tensor with NaN here:
# for the tool that counts as written, and what a kernel leaves out shows in its result.
torch.use_deterministic_algorithms(True)
LAUNCHED = set()
triton.knobs.runtime.launch_enter_hook.add(lambda metadata: LAUNCHED.add(metadata.get()["name"]))
PLANNED = set()


def random(*shape):
    return torch.randn(shape, device="cuda")


# Tiles, split sums, and where rows begin at multiples of 16 bytes on Hopper: large products, narrow ones, few tiles, many.
SHAPES = [(1, 1, 1), (7, 13, 5), (129, 67, 130), (33, 8201, 40), (200, 264, 520), (40, 2048, 264), (264, 2048, 7)]
SHAPES += [(136, 8200, 200), (2040, 40, 2048)]
# Large enough to be copied first.
SHAPES += [(260, 2050, 131)]
for m, k, n in SHAPES:
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        a, b, bias = (x.to(dtype).requires_grad_() for x in (random(m, k), random(k, n), random(n)))
        PLANNED.add(matmul_plan(a, b).kernel)
        for activation in (None, "gelu"):
            c = matmul(a, b, bias, activation)
            gradients = torch.autograd.grad(c, (a, b, bias), torch.randn_like(c))
            assert all(torch.isfinite(tensor).all() for tensor in (c, *gradients)), (m, k, n, dtype)
        matmul(a.detach(), b.detach().t().contiguous().t())
    if torch.cuda.get_device_capability() >= (8, 9):
        a, b = random(m, k).to(torch.float8_e4m3fn), random(n, k).to(torch.float8_e4m3fn).t()
        c = scaled_matmul(a, b, torch.rand(m, 1, device="cuda"), torch.rand(1, n, device="cuda"))
        assert torch.isfinite(c).all(), (m, k, n)
x, weight = random(37, 127).requires_grad_(), random(67, 127).requires_grad_()
y = layer_norm_linear(x, random(127), random(127), weight, random(67))
assert all(torch.isfinite(tensor).all() for tensor in torch.autograd.grad(y, (x, weight), torch.randn_like(y)))
torch.cuda.synchronize()
print(f"{len(LAUNCHED)} kernels launched, every result finite; plans: {', '.join(sorted(PLANNED))}")
print(*sorted(LAUNCHED), sep="\n")
