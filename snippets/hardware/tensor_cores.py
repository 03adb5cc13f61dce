"""Compile one product of tiles for GPUs of four tiers, and see which instructions it becomes. No GPU is needed."""
import os
import re

os.environ["TRITON_INTERPRET"] = "0"  # before triton is imported: this program compiles and runs nothing

# --8<-- [start:tensor_cores]
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction


def product(a_ptr, b_ptr, c_ptr, K, SIDE: tl.constexpr):
    side = tl.arange(0, SIDE)
    a_ptrs = a_ptr + side[:, None] * K + side[None, :]
    b_ptrs = b_ptr + side[:, None] * SIDE + side[None, :]
    c = tl.zeros((SIDE, SIDE), dtype=tl.float32)
    for k in range(0, K, SIDE):
        c = tl.dot(tl.load(a_ptrs + k), tl.load(b_ptrs + k * SIDE), c)
    tl.store(c_ptr + side[:, None] * SIDE + side[None, :], c)


types = {"a_ptr": "*bf16", "b_ptr": "*bf16", "c_ptr": "*fp32", "K": "i32", "SIDE": "constexpr"}
aligned = {(i,): [["tt.divisibility", 16]] for i in range(4)}
for capability in (80, 86, 90, 100, 120):
    source = ASTSource(JITFunction(product), types, {(4,): 64}, aligned)
    kernel = triton.compile(source, target=GPUTarget("cuda", capability, 32))
    found = set(re.findall(r"mma\.sync|wgmma\.mma|tcgen05\.mma|cp\.async\.c\w|ld\.shared|ldmatrix", kernel.asm["ptx"]))
    print(f"sm_{capability}: {', '.join(sorted(found))}", kernel.metadata.shared)
# --8<-- [end:tensor_cores]
