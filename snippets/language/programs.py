"""Which program am I, how many are there, and what is decided at compile time."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:programs]
import torch
import triton
import triton.language as tl


@triton.jit
def programs_kernel(out_ptr, n, SIDE: tl.constexpr):
    tl.static_assert(SIDE >= 2, "checked when the kernel is compiled")
    pid = tl.program_id(0)  # which one am I?
    count = tl.num_programs(0)  # how many are there?
    total = 0
    for k in range(n):  # a loop over a number that is known at the launch
        total += k
    for k in tl.static_range(SIDE):  # written out, once for each k, when the kernel is compiled
        total += 100 * k
    waves = tl.cdiv(n, SIDE)  # rounded up
    i = tl.arange(0, 4)
    row = tl.where(i == 0, pid, tl.where(i == 1, count, tl.where(i == 2, total, waves)))
    tl.store(out_ptr + 4 * pid + i, row)


device = "cuda" if torch.cuda.is_available() else "cpu"
out = torch.empty((3, 4), dtype=torch.int32, device=device)
programs_kernel[(3,)](out, 5, SIDE=2)
for row in out.tolist():
    print("program_id, num_programs, total, cdiv:", row)
    #> program_id, num_programs, total, cdiv: [0, 3, 110, 3]
    #> program_id, num_programs, total, cdiv: [1, 3, 110, 3]
    #> program_id, num_programs, total, cdiv: [2, 3, 110, 3]
# --8<-- [end:programs]
