"""Many programs add to one number: by load and store, and by an atomic addition."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import keep

# --8<-- [start:lost_updates]
@triton.jit
def count_once_kernel(count_ptr, ATOMIC: tl.constexpr):
    if ATOMIC:
        tl.atomic_add(count_ptr, 1)
    else:
        tl.store(count_ptr, tl.load(count_ptr) + 1)  # the mistake


counted = {}
for atomic in (False, True):
    count = torch.zeros(1, dtype=torch.int32, device="cuda")
    count_once_kernel[(100_000,)](count, ATOMIC=atomic)
    name = "atomic" if atomic else "plain"
    counted[name] = count.item()
    print(f"{name}: 100,000 programs counted {count.item():,}")
# --8<-- [end:lost_updates]
assert counted["atomic"] == 100_000
keep(figures=counted)
