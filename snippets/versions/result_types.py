"""Which dtype some results have: what a block of bfloat16 or int8 becomes on its way."""
import os
# --8<-- [start:re]
import re
# --8<-- [end:re]

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import torch
import triton
import triton.language as tl

# --8<-- [start:compile_only]
from kernels.tools.compile_only import compile_only
# --8<-- [end:compile_only]
from kernels.tools.errors import error_of

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:types]
@triton.jit
def result_types_kernel(x_ptr, out_ptr, CASE: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    if CASE == "tl.maximum(x, 0)":
        y = tl.maximum(x, 0)
    elif CASE == "tl.cumsum(x)":
        y = tl.cumsum(x)
    elif CASE == "tl.cumprod(x)":
        y = tl.cumprod(x)
    elif CASE == "tl.clamp(x, 0, 5)":
        y = tl.clamp(x, 0, 5)
    none = tl.full([64], 0, y.dtype)
    tl.store(out_ptr + tl.arange(0, 64), y > none)  # the compiler's text says what is compared


def type_of(case, x):
    made = compile_only(result_types_kernel, x, torch.empty(64, dtype=torch.int8), CASE=case)
    found = re.findall(r"arith.cmp.*tensor<64x(\w+)>", made.asm["ttir"])
    told.append(f"{case} of {x.dtype} is {found[-1]}")


told = []
for case in ("tl.maximum(x, 0)", "tl.cumsum(x)", "tl.cumprod(x)", "tl.clamp(x, 0, 5)"):
    for x in (torch.empty(64, dtype=torch.bfloat16), torch.empty(64, dtype=torch.int8)):
        said = error_of(lambda case=case, x=x: type_of(case, x))
        if said != "no error":
            told.append(f"{case} of {x.dtype} is refused: {said.splitlines()[-1]}")
# --8<-- [end:types]
print(*told, sep="\n")
