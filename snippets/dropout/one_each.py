"""Dropout in its shortest form: one random number for every element, from a seed and the element's place."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def one_each_kernel(x_ptr, y_ptr, n_elements, p, seed, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    kept = tl.rand(seed, offsets) >= p  # a number from 0 to 1 for every element
    y = tl.where(kept, x / (1 - p), 0.0)
    tl.store(y_ptr + offsets, y, mask=mask)


def one_each(x, p, seed):
    y = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    one_each_kernel[grid](x, y, x.numel(), p, seed, BLOCK=1024)
    return y
# --8<-- [end:kernel]


# --8<-- [start:seeds]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(8, device=device)
print(one_each(x, 0.5, seed=7).int().tolist())
#> [0, 2, 0, 2, 2, 2, 0, 2]
print(one_each(x, 0.5, seed=7).int().tolist())
#> [0, 2, 0, 2, 2, 2, 0, 2]
print(one_each(x, 0.5, seed=8).int().tolist())
#> [2, 2, 0, 2, 0, 0, 2, 2]
# --8<-- [end:seeds]


# --8<-- [start:function]
class SeededDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed):
        ctx.p, ctx.seed = p, seed  # two numbers, in place of a mask
        return one_each(x, p, seed)

    @staticmethod
    def backward(ctx, dy):
        return one_each(dy.contiguous(), ctx.p, ctx.seed), None, None


x = torch.randn(1000, device=device, requires_grad=True)
y = SeededDropout.apply(x, 0.5, 7)
(dx,) = torch.autograd.grad(y, x, torch.ones_like(x))
print("the same elements are zero:", torch.equal(dx == 0, y == 0))
#> the same elements are zero: True
print("the others:", dx[dx != 0].unique().tolist())
#> the others: [2.0]
# --8<-- [end:function]

# --8<-- [start:shared]
x = torch.ones(4096, device=device)
once = one_each(x, 0.5, seed=7)
twice = one_each(once, 0.5, seed=7)  # meant to drop half of what was left
print("left:", int((twice != 0).sum()), "of", int((once != 0).sum()))
#> left: 2077 of 2077
twice = one_each(once, 0.5, seed=8)
print("left:", int((twice != 0).sum()), "of", int((once != 0).sum()))
#> left: 996 of 2077
# --8<-- [end:shared]
