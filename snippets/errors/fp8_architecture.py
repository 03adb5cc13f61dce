"""Numbers of eight bits in a format that the GPU does not have."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No GPU is needed, and no interpreter: the kernel is compiled and not run.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

# --8<-- [start:wrong]
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime import JITFunction


@triton.jit
def widen_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets).to(tl.float32))


def compiled(kernel, x_type, capability):
    """The kernel as a launch on a GPU of this compute capability compiles it: 80 is an A100, 86 an RTX 30, 89 an RTX 40."""
    types = {"x_ptr": x_type, "y_ptr": "*fp32", "BLOCK": "constexpr"}
    source = ASTSource(JITFunction(kernel.fn), types, {(2,): 128})
    return triton.compile(source, target=GPUTarget("cuda", capability, 32))


said = error_of(lambda: compiled(widen_kernel, "*fp8e4nv", 80))  # the mistake: a tensor in torch.float8_e4m3fn
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_rounding]
@triton.jit
def round_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, x.to(tl.float8e4nv).to(tl.float32))  # the mistake


said = error_of(lambda: compiled(round_kernel, "*fp32", 80))
# --8<-- [end:wrong_rounding]
print(said)


# --8<-- [start:right]
@triton.jit
def round_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, x.to(tl.float8e5).to(tl.float32))


made = [compiled(widen_kernel, "*fp8e5", 80), compiled(widen_kernel, "*bf16", 80), compiled(round_kernel, "*fp32", 80)]
print(all("cubin" in kernel.asm for kernel in made))
#> True
# --8<-- [end:right]
