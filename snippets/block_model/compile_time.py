"""What is decided when a kernel is compiled: the length of a block, and whether a loop is still one."""
import re

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:loops]
@triton.jit
def iterate_kernel(x_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    for _ in range(STEPS):
        x = x * x + 1
    tl.store(x_ptr + offsets, x)


@triton.jit
def iterate_unrolled_kernel(x_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    for _ in tl.static_range(STEPS):
        x = x * x + 1
    tl.store(x_ptr + offsets, x)


for kernel in (iterate_kernel, iterate_unrolled_kernel):
    asm = compile_only(kernel, torch.float32, STEPS=8, BLOCK=128).asm
    ttgir, ptx = asm["ttgir"], asm["ptx"]
    loops, products = ttgir.count("scf.for"), ttgir.count("arith.mulf")
    jumps, fused = len(re.findall(r"\bbra\b", ptx)), ptx.count("fma.rn")
    print(f"TTGIR: loops {loops}, products {products}; PTX: jumps {jumps}, fma {fused}")
    #> TTGIR: loops 1, products 1; PTX: jumps 0, fma 8
    #> TTGIR: loops 0, products 8; PTX: jumps 0, fma 8
# --8<-- [end:loops]

# --8<-- [start:refused]
for block in (128, 100):
    try:
        compile_only(iterate_kernel, torch.float32, STEPS=8, BLOCK=block)
        print(block, "compiles")
        #> 128 compiles
    except triton.compiler.errors.CompilationError as error:
        print(block, "is refused:", str(error).splitlines()[-1])
        #> 100 is refused: arange's range must be a power of 2
# --8<-- [end:refused]
