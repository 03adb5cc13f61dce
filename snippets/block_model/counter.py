"""Ten thousand programs add one to the same counter: plainly, and with an atomic operation."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import keep


# --8<-- [start:counter]
@triton.jit
def plain_count_kernel(counter_ptr):
    count = tl.load(counter_ptr)
    tl.store(counter_ptr, count + 1)


@triton.jit
def atomic_count_kernel(counter_ptr):
    tl.atomic_add(counter_ptr, 1)


counters = torch.zeros(2, dtype=torch.int32, device="cuda")
plain_count_kernel[(10_000,)](counters[0:])
atomic_count_kernel[(10_000,)](counters[1:])
plain, atomic = counters.tolist()
print("load, add, store:", plain)
print("atomic_add:", atomic)
# --8<-- [end:counter]
assert atomic == 10_000 and plain < 10_000, "the mistake this program shows did not happen"
keep(figures={"plain": plain, "atomic": atomic})
