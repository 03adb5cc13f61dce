"""x * y + z, compiled with fusion and without: an fma, or a mul and an add."""
import os

for name in ("TRITON_INTERPRET", "TRITON_DEFAULT_FP_FUSION"):
    os.environ.pop(name, None)  # before triton is imported

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only
from kernels.tools.errors import error_of
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:fusion]
@triton.jit
def multiply_add_kernel(x_ptr, y_ptr, z_ptr, out_ptr, FMA: tl.constexpr):
    offsets = tl.arange(0, 128)
    x, y, z = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets), tl.load(z_ptr + offsets)
    tl.store(out_ptr + offsets, tl.fma(x, y, z) if FMA else x * y + z)


def count(FMA=False, **options):
    x = torch.empty(128)
    ptx = compile_only(multiply_add_kernel, x, x, x, x, FMA=FMA, **options).asm["ptx"]
    found = {name: ptx.count(f"\t{name}.") for name in ("fma.rn", "mul.f32", "mul.rn", "add.f32", "add.rn")}
    told.append(f"{options} {'tl.fma' if FMA else 'x * y + z'}: {[name for name, times in found.items() if times]}")


told = []
said = error_of(count)  # the version's own choice, and what it says about it
count(enable_fp_fusion=True)
count(enable_fp_fusion=False)
count(enable_fp_fusion=False, FMA=True)
# --8<-- [end:fusion]
print(*told, said, sep="\n")
