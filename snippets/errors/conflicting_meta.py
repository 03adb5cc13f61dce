"""A tuned kernel that is given the argument that the tuner chooses."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
# None is the GPU's own clock. Without a GPU every candidate is equally fast.
clock = None if torch.cuda.is_available() else lambda call, quantiles: [call() or 0.0] * len(quantiles)


@triton.autotune([triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})], ["n_elements"], do_bench=clock)
@triton.jit
def double_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


x = torch.rand(1000, device=device)
y = torch.empty_like(x)
said = error_of(lambda: double_kernel[(4,)](x, y, 1000, BLOCK=256))  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:wrong_one]
alone = triton.autotune([triton.Config({"BLOCK": 256})], ["n_elements"])(double_kernel.fn)
said = error_of(lambda: alone[(4,)](x, y, 1000, BLOCK=256))  # the mistake
# --8<-- [end:wrong_one]
print(said)

# --8<-- [start:right]
double_kernel[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, 1000)
print(torch.equal(y, 2 * x))
#> True
# --8<-- [end:right]
