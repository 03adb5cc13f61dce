"""One switch of the compiler at a time, and the first of its four texts that the switch changes."""
import os

import torch
import triton
import triton.language as tl

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:parts]
from kernels.tools.compile_only import compile_only


@triton.jit
def switched_suspect_kernel(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    rows, k = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    total = tl.full((BLOCK, BLOCK), 0.0, tl.float32)
    for start in range(0, K, BLOCK):
        a = tl.load(a_ptr + rows[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * BLOCK + rows[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * BLOCK + rows[None, :], total * 2 + 1)


def texts(**options):
    half = torch.float16
    compiled = compile_only(switched_suspect_kernel, half, half, half, 512, BLOCK=64, **options)
    return {name: compiled.asm[name] for name in ("ttir", "ttgir", "llir", "ptx")}
# --8<-- [end:parts]


usual = texts()
for option, value in (("debug", True), ("num_warps", 8), ("num_stages", 1), ("enable_fp_fusion", False)):
    changed = [name for name, text in texts(**{option: value}).items() if text != usual[name]]
    print(f"{option}={value}: from {changed[0]} on")
    #> debug=True: from ttir on
    #> num_warps=8: from ttgir on
    #> num_stages=1: from ttgir on
    #> enable_fp_fusion=False: from ptx on
os.environ["DISABLE_LLVM_OPT"] = "1"  # read by every compilation
print("DISABLE_LLVM_OPT: from", next(name for name, text in texts().items() if text != usual[name]), "on")
#> DISABLE_LLVM_OPT: from llir on
