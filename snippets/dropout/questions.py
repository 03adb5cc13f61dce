"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def draw_numbers(out_ptr, n, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.rand(seed, offsets), mask=offsets < n)


@triton.jit
def drop_some(x_ptr, out_ptr, p, seed, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    kept = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(kept, tl.load(x_ptr + offsets) / (1 - p), 0.0))


def draw(block):
    out = torch.empty(2000, device=device)
    draw_numbers[(triton.cdiv(2000, block),)](out, 2000, 1234, BLOCK=block)
    return out


device = "cuda" if torch.cuda.is_available() else "cpu"
print(f"block: {'same' if draw(256)[1000] == draw(1024)[1000] else 'other'}")

out = torch.empty(256, device=device)
drop_some[(1,)](torch.ones(256, device=device), out, 0.75, 1234, BLOCK=256)
print(f"kept: {out.max().item()}")

layers = 4
formulas = {
    "sum": lambda step, layer: step + layer,
    "product": lambda step, layer: step * layer,
    "count": lambda step, layer: step * layers + layer,
}
for name, seed in formulas.items():
    if len({seed(step, layer) for step in range(100) for layer in range(layers)}) == 100 * layers:
        print(f"seed: {name}")
