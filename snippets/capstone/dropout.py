"""Dropout whose mask is never stored: the way back draws the same numbers again, from the same seed."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

import triton
import triton.language as tl

from snippets.capstone.tuning import tuned


# --8<-- [start:kernels]
@triton.jit
def capstone_dropout_kernel(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = offsets < n
    # [write] draw a number in [0, 1) for every element; where it is not below p, store x / (1 - p), and elsewhere zero
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    fours = tl.program_id(0).to(tl.int64) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)  # four numbers come of each draw
    a, b, c, d = tl.rand4x(seed, fours)
    drawn = tl.reshape(tl.join(tl.join(a, b), tl.join(c, d)), [BLOCK])
    kept = drawn >= p
    tl.store(y_ptr + offsets, tl.where(kept, x / (1 - p), 0.0), mask=mask)
    # [/write]
# --8<-- [end:kernels]


tuned_dropout = tuned(capstone_dropout_kernel, ["n"], blocks=(512, 1024, 2048, 4096))


def dropped(x, p, seed):
    x, n = x.contiguous(), x.numel()
    y = torch.empty_like(x)
    tuned_dropout[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n, p, seed)
    return y


class Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed):
        # [write] keep p and seed in ctx, and return what the kernel makes of x
        ctx.p, ctx.seed = p, seed
        return dropped(x, p, seed)
        # [/write]

    @staticmethod
    def backward(ctx, dy):
        # [write] the same call with dy: the same seed draws the same numbers, so the same elements are kept
        return dropped(dy, ctx.p, ctx.seed), None, None
        # [/write]


def dropout(x, p=0.5, seed=0):
    """Dropout of a tensor; the same seed drops the same elements."""
    if not 0 <= p < 1:
        raise ValueError(f"p: expected a number in [0, 1), got {p}")
    return Dropout.apply(x, p, seed)


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.ones(10_000, device=device)
    y = dropout(x, 0.25, seed=1)
    print("kept elements are scaled:", torch.unique(y).tolist())
    print("about a quarter is dropped:", abs((y == 0).float().mean().item() - 0.25) < 0.02)
