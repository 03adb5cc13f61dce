"""Which arithmetic a kernel is compiled to when FPSan is asked for: of floats, or of whole numbers."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

# --8<-- [start:imports]
import re

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("No CUDA device found: the kernel is compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:arithmetic]
@triton.jit
def weighed_row_kernel(x_ptr, weight_ptr, out_ptr, scale):
    columns = tl.arange(0, 128)
    x, weight = tl.load(x_ptr + columns), tl.load(weight_ptr + columns)
    tl.store(out_ptr + columns, scale * x * weight + x)


def arithmetic():
    ptx = compile_only(weighed_row_kernel, torch.float32, torch.float32, torch.float32, 0.3).asm["ptx"]
    found = re.findall(r"\t((?:add|sub|mul|mad|fma)\.\S*(?:f32|s32))", ptx)  # s32 is a whole number
    return ", ".join(sorted(set(found)))


told = [f"not set: {arithmetic()}"]
triton.knobs.compilation.instrumentation_mode = "fpsan"  # as the variable does, which is read when Triton is imported
told.append(f"fpsan: {arithmetic()}")
# --8<-- [end:arithmetic]
print(*told, sep="\n")
