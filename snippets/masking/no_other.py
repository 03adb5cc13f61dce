"""What a masked lane holds when nothing says what it should hold: nothing that Triton promises."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction


# --8<-- [start:kernel]
@triton.jit
def undefined_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n_elements)  # the mistake: no other
    tl.store(out_ptr, tl.max(x, axis=0))
# --8<-- [end:kernel]


types = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n_elements": "i32", "BLOCK": "constexpr"}
source = ASTSource(JITFunction(undefined_kernel.fn), types, constexprs={(3,): 128})
ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"].splitlines()
at = next(number for number, line in enumerate(ptx) if "@%p1 ld.global" in line)
print(*[line.strip() for line in ptx[at - 5 : at + 1] if "mov" in line or "ld" in line], sep="\n")
#> mov.u32 %r1, 0x0;
#> @%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];

# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([-3.0, -1.0, -2.0, -5.0, -4.0], device=device)
out = torch.empty(1, device=device)
undefined_kernel[(1,)](x, out, 5, BLOCK=8)
print("the largest of five negative numbers:", out.item())
#> the largest of five negative numbers: 0.0
# --8<-- [end:launch]
assert out.item() != -1, "the mistake this program shows did not happen"
