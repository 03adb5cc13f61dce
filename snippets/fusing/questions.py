"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def bias_in_loop(bias_ptr, out_ptr, K, BLOCK_K: tl.constexpr):
    total = 0.0
    for _ in range(0, K, BLOCK_K):
        total += tl.load(bias_ptr)  # and a product, which here is zero
    tl.store(out_ptr, total)


device = "cuda" if torch.cuda.is_available() else "cpu"
out = torch.empty(1, device=device)
bias_in_loop[(1,)](torch.ones(1, device=device), out, 100, BLOCK_K=32)
print(f"bias: {out.item():.0f}")

halves = torch.tensor([5.0, -5.0])
print(f"split: {torch.relu(halves).sum().item():.0f}")


def saved(k, m=8192, n=4096, copy_rate=4e12, arithmetic_rate=700e12):
    """The share of the time that an activation of its own takes, behind a product in 16 bits."""
    product = max(2 * (m * k + k * n + m * n) / copy_rate, 2 * m * n * k / arithmetic_rate)
    activation = 4 * m * n / copy_rate
    return activation / (product + activation)


print(f"most: {max((256, 4096, 16384), key=saved)}")
