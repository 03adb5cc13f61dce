"""What goes wrong when a loop's variable is used after the loop: what the compiler makes of it, seen without a GPU."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:loop_variable]
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction


def last_start(out_ptr, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        tl.store(out_ptr + start, 1)
    tl.store(out_ptr, start)  # the mistake: the loop is over


types = {"out_ptr": "*i32", "n": "i32", "BLOCK": "constexpr"}
source = ASTSource(fn=JITFunction(last_start), signature=types, constexprs={(2,): 128})
compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
poison = [line for line in compiled.asm["ttir"].splitlines() if "ub.poison" in line]
print("undefined values in the compiled kernel:", len(poison))
#> undefined values in the compiled kernel: 1
# --8<-- [end:loop_variable]
