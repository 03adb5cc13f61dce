"""Compile one product of tiles for five GPUs, and see which instructions it becomes."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported
print("No GPU is needed, and no interpreter: the kernel is compiled and not run.")

import re

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction


# --8<-- [start:product]
def product(a_ptr, b_ptr, c_ptr, K, SIDE: tl.constexpr):
    side = tl.arange(0, SIDE)
    a_ptrs = a_ptr + side[:, None] * K + side[None, :]
    b_ptrs = b_ptr + side[:, None] * SIDE + side[None, :]
    c = tl.full((SIDE, SIDE), 0.0, tl.float32)
    for k in range(0, K, SIDE):
        c = tl.dot(tl.load(a_ptrs + k), tl.load(b_ptrs + k * SIDE), c)
    tl.store(c_ptr + side[:, None] * SIDE + side[None, :], c)
# --8<-- [end:product]


types = {"a_ptr": "*bf16", "b_ptr": "*bf16", "c_ptr": "*fp32", "K": "i32"}
types["SIDE"] = "constexpr"
multiply = r"^\s*(?:@!?%p\d+ )?((mma\.sync|wgmma\.mma_async|tcgen05\.mma)\S*)"
for capability in (80, 86, 90, 100, 120):
    divisible = {(place,): [["tt.divisibility", 16]] for place in range(4)}
    source = ASTSource(JITFunction(product), types, {(4,): 64}, divisible)
    compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32))
    found = re.findall(multiply, compiled.asm["ptx"], re.MULTILINE)
    shape = re.search(r"\.(m\d+n\d+k\d+)", found[0][0])
    size = f", each {shape[1]}" if shape else ""
    print(f"sm_{capability}: {len(found)} {found[0][1]}{size}")
    #> sm_80: 32 mma.sync, each m16n8k16
    #> sm_86: 32 mma.sync, each m16n8k16
    #> sm_90: 4 wgmma.mma_async, each m64n64k16
    #> sm_100: 8 tcgen05.mma
    #> sm_120: 32 mma.sync, each m16n8k16
