"""Read and write a flag that another program waits for: once by way of an addition and an exchange, now by name."""
import os
import re

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only
from kernels.tools.errors import error_of

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


# --8<-- [start:before]
@triton.jit
def flag_by_addition_kernel(ready_ptr, flag_ptr):
    seen = tl.atomic_add(ready_ptr, 0, sem="acquire")
    tl.atomic_xchg(flag_ptr, seen, sem="release")
# --8<-- [end:before]


# --8<-- [start:after]
@triton.jit
def flag_by_name_kernel(ready_ptr, flag_ptr):
    seen = tl.atomic_load(ready_ptr)
    tl.atomic_store(flag_ptr, seen)
# --8<-- [end:after]


# --8<-- [start:compile]
def atomics_of(kernel):
    flags = torch.zeros(1, dtype=torch.int32)
    made = compile_only(kernel, flags, flags.clone())
    ordered = r"\b((?:atom|ld|st|fence)\.[\w.]*(?:acquire|release|acq_rel|relaxed)[\w.]*)"
    told.append(f"{kernel.__name__}: " + ", ".join(re.findall(ordered, made.asm["ptx"])))


told = []
for kernel in (flag_by_addition_kernel, flag_by_name_kernel):
    said = error_of(lambda kernel=kernel: atomics_of(kernel))
    if said != "no error":
        told.append(f"{kernel.__name__}: {said.splitlines()[-1]}")
# --8<-- [end:compile]
print(*told, sep="\n")
