"""How wide the compiled loads are, with a mask and without, for sizes that 16 divides and others."""
import os
import re

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported
print("No GPU is needed, and no interpreter: the kernel is compiled and not run.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


# --8<-- [start:kernel]
@triton.jit
def negate_kernel(
    x_ptr, out_ptr, n_elements,
    MASK: tl.constexpr, BLOCK: tl.constexpr,
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements if MASK else None
    tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets, mask=mask), mask=mask)
# --8<-- [end:kernel]


def loads(dtype, divisible, masked):
    """The loads of one thread as Triton compiles them for a Hopper GPU, which need not be here."""
    types = [f"*{dtype}", f"*{dtype}", "i32", "constexpr", "constexpr"]
    aligned = {(at,): [["tt.divisibility", 16]] for at in ((0, 1, 2) if divisible else (0, 1))}
    signature = dict(zip(negate_kernel.arg_names, types, strict=True))
    constants = {(3,): masked, (4,): 1024}
    source = ASTSource(negate_kernel, signature, constants, aligned)
    ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
    found = re.findall(r"ld\.global\.(?:v(\d)\.)?b(\d+)", ptx)
    return f"{len(found)} of {int(found[0][0] or 1) * int(found[0][1]) // 8} bytes"


for dtype in ("fp32", "bf16"):
    print(f"{dtype}: no mask {loads(dtype, False, False)},", end=" ")
    print(f"16 divides n {loads(dtype, True, True)}, otherwise {loads(dtype, False, True)}")
    #> fp32: no mask 2 of 16 bytes, 16 divides n 2 of 16 bytes, otherwise 8 of 4 bytes
    #> bf16: no mask 1 of 16 bytes, 16 divides n 1 of 16 bytes, otherwise 8 of 2 bytes
