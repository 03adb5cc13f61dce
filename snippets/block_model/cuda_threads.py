"""The same operation as CUDA writes it, for one thread, and as Triton writes it, for one program."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

# --8<-- [start:views]
cuda_source = """
extern "C" __global__ void double_one(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // one number
    if (i < n)
        out[i] = 2 * x[i];
}
"""


@triton.jit
def double_many_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # BLOCK numbers
    mask = i < n
    tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, mask=mask), mask=mask)


x = torch.randn(1000, device="cuda")
by_threads, by_programs = torch.zeros_like(x), torch.zeros_like(x)
double_one = torch.cuda._compile_kernel(cuda_source, "double_one")
double_one(grid=(4, 1, 1), block=(256, 1, 1), args=[x, by_threads, 1000])
double_many_kernel[(4,)](x, by_programs, 1000, BLOCK=256)
print("the same:", torch.equal(by_threads, by_programs))
#> the same: True
# --8<-- [end:views]
assert torch.equal(by_programs, 2 * x)
