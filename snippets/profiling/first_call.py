"""The first call of a kernel, which compiles it, and a GPU that has just woken up."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

import os
import tempfile
import time

from kernels.tools.benchmark import keep

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()  # nothing is compiled yet


# --8<-- [start:kernel]
@triton.jit
def new_step_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, tl.exp(x), mask=offsets < n)
# --8<-- [end:kernel]


# --8<-- [start:first]
def clock_ms(call):
    torch.cuda.synchronize()
    began = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) * 1e3


x = torch.randn(2**24, device="cuda")
y = torch.empty_like(x)


def step():
    new_step_kernel[(2**14,)](x, y, x.numel(), BLOCK=1024)


calls = [clock_ms(step) for _ in range(100)]
print(f"first call {calls[0]:.3f} ms, second {calls[1]:.3f} ms, hundredth {calls[99]:.3f} ms")
# --8<-- [end:first]

# --8<-- [start:ramp]
a, b = torch.randn(2, 8192, 8192, device="cuda").bfloat16().unbind()
a @ b  # the library chooses its kernel
torch.cuda.synchronize()
time.sleep(5)  # the GPU has nothing to do, and lowers its clock
products = [clock_ms(lambda: a @ b) for _ in range(400)]
for first in (0, 1, 10, 100, 390):
    part = sorted(products[first : first + 10])
    print(f"products {first:3} to {first + 9:3}: median {part[5]:6.3f} ms")
# --8<-- [end:ramp]
keep(figures={"first_ms": calls[0], "second_ms": calls[1], "hundredth_ms": calls[99], "woken": products[0], "ramped": part[5]})
