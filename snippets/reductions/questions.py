"""What the questions of the lesson ask, run: each line is the answer to one."""
import itertools
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def count_itself(counter_ptr, seen_ptr):
    before = tl.atomic_add(counter_ptr, 1)
    tl.store(seen_ptr + tl.program_id(0), before)


device = "cuda" if torch.cuda.is_available() else "cpu"
counter, seen = torch.zeros(1, dtype=torch.int32, device=device), torch.full((8,), -1, dtype=torch.int32, device=device)
count_itself[(8,)](counter, seen)
print(f"last: {seen.max().item()}")

sums, maxima = set(), set()
for order in itertools.permutations(torch.tensor([1e8, 1.0, -1e8], device=device)):
    total, largest = torch.zeros((), device=device), torch.full((), -float("inf"), device=device)
    for part in order:
        total, largest = total + part, torch.maximum(largest, part)
    sums.add(total.item())
    maxima.add(largest.item())
print(f"sums: {sorted(sums)}")

means = {total / 3 for total in sums}
for name, results in {"sum": sums, "mean": means, "maximum": maxima}.items():
    if len(results) == 1:
        print(f"any_order: {name}")
