"""What the compiled kernel puts into masked lanes, with `other` and without."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported
print("No GPU is needed, and no interpreter: the kernel is compiled and not run.")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


# --8<-- [start:kernel]
@triton.jit
def shifted_kernel(
    x_ptr, out_ptr, n_elements,
    OTHER: tl.constexpr, BLOCK: tl.constexpr,
):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n_elements, other=OTHER)
    tl.store(out_ptr + lanes, x)
# --8<-- [end:kernel]


types = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n_elements": "i32", "OTHER": "constexpr", "BLOCK": "constexpr"}
for other in (None, -float("inf")):
    source = ASTSource(shifted_kernel, types, constexprs={(3,): other, (4,): 128})
    lines = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"].splitlines()
    load = next(number for number, line in enumerate(lines) if "ld.global" in line)
    print(f"other={other}")
    print("\n".join(' '.join(line.split()) for line in lines[load - 4 : load + 1] if "mov" in line or "ld." in line))
    #> other=None
    #> mov.u32 %r1, 0x0;
    #> @%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];
    #> other=-inf
    #> mov.b32 %r1, -8388608;
    #> mov.u32 %r2, %r1;
    #> @%p1 ld.global.b32 { %r2 }, [ %rd1 + 0 ];
