"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def row_mean(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n, other=0.0)
    tl.store(out_ptr, tl.sum(x, axis=0) / BLOCK)


@triton.jit
def log_sum(x_ptr, out_ptr, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n, other=OTHER)
    tl.store(out_ptr, tl.sum(tl.log(x), axis=0))


@triton.jit
def half_masked_double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes)
    tl.store(out_ptr + lanes, 2 * x, mask=lanes < n)


device = "cuda" if torch.cuda.is_available() else "cpu"
out = torch.empty(1, device=device)

row_mean[(1,)](torch.full((100,), 4.0, device=device), out, 100, BLOCK=128)
print(f"mean: {out.item()}")

x = torch.tensor([2.0, 4.0, 5.0], device=device)
for other in (0.0, 1.0, float("-inf")):
    log_sum[(1,)](x, out, 3, OTHER=other, BLOCK=4)
    if torch.isclose(out, x.log().sum()).item():
        print(f"filler: {other}")

memory = torch.arange(16.0, device=device)
before = memory.clone()
half_masked_double[(1,)](memory, memory, 10, BLOCK=16)
doubled, untouched = torch.equal(memory[:10], 2 * before[:10]), torch.equal(memory[10:], before[10:])
print(f"unmasked_load: {'right' if doubled and untouched else 'wrong'}")
