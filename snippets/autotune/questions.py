"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


def doubled_by_trials(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets))


def half_done(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)  # right only if one block is enough
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


class Clock:
    """Run each candidate once, and say that it took longer than the one before."""

    calls = 0

    def __call__(self, call, quantiles):
        call()
        self.calls += 1
        return [float(self.calls)] * len(quantiles)


def tuned(function, blocks, clock, key):
    candidates = [triton.Config({"BLOCK": block}, num_warps=4) for block in blocks]
    return triton.autotune(candidates, key=key, do_bench=clock)(triton.jit(function))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(64, device=device)
tuned(doubled_by_trials, (16, 32, 64), Clock(), key=[])[(1,)](x)
print(f"in_place: {x[0].item():.0f}")

copy = tuned(half_done, (16, 64), Clock(), key=["n"])
x = torch.rand(64, device=device)
y = torch.zeros_like(x)
copy[(1,)](x, y, 64)
y.zero_()
copy[(1,)](x, y, 64)
print(f"fast_wrong: {'right' if torch.equal(y, x) else 'wrong'}")

clock = Clock()
copy = tuned(half_done, (16, 64), clock, key=["n"])
for given in (x, x + 1, x[:50], x.half(), x[:50]):
    copy[(1,)](given, torch.empty_like(given), given.numel())
print(f"searches: {clock.calls // 2}")
