"""Two ways to promise the compiler that a mask is regular, and what each does to the loads."""
import os
import re

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported
print("No GPU is needed, and no interpreter: the kernel is compiled and not run.")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


# --8<-- [start:kernel]
@triton.jit
def hinted_negate_kernel(
    x_ptr, out_ptr, n,
    HINT: tl.constexpr, BLOCK: tl.constexpr,
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if HINT == "multiple_of":
        n = tl.multiple_of(n, 16)  # "16 divides n"
    mask = offsets < n
    if HINT == "max_constancy":
        mask = tl.max_constancy(mask, 16)  # "alike in every 16 lanes"
    tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets, mask=mask), mask=mask)
# --8<-- [end:kernel]


signature = dict(zip(hinted_negate_kernel.arg_names, ["*fp32", "*fp32", "i32", "constexpr", "constexpr"], strict=True))
aligned = {(at,): [["tt.divisibility", 16]] for at in (0, 1)}
for hint in ("none", "multiple_of", "max_constancy"):
    source = ASTSource(hinted_negate_kernel, signature, {(3,): hint, (4,): 1024}, aligned)
    ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
    found = re.findall(r"ld\.global\.(?:v(\d)\.)?b(\d+)", ptx)
    print(f"{hint:13} {len(found)} loads of {int(found[0][0] or 1) * int(found[0][1]) // 8} bytes")
    #> none          8 loads of 4 bytes
    #> multiple_of   8 loads of 4 bytes
    #> max_constancy 2 loads of 16 bytes
