"""The exercise's solution: how many variants do a thousand lengths make?"""
import torch
import triton
import triton.language as tl
# --8<-- [start:imports]
from triton.runtime import JITFunction, driver
# --8<-- [end:imports]

from kernels.tools.compile_only import NoGPU

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")
    driver.set_active(NoGPU())


# --8<-- [start:exercise]
@triton.jit
def set_zero_kernel(out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 0.0, mask=offsets < n_elements)


fill = JITFunction(set_zero_kernel.fn)
fixed, fitted = set(), set()
for n in range(1, 1001):
    fixed.add(fill.warmup(torch.float32, n, BLOCK=256, grid=(1,)).hash)
    fit = triton.next_power_of_2(n)
    fitted.add(fill.warmup(torch.float32, n, BLOCK=fit, grid=(1,)).hash)
print(len(fixed), "variants with one BLOCK,", len(fitted), "with one that fits")
#> 3 variants with one BLOCK, 18 with one that fits
# --8<-- [end:exercise]
