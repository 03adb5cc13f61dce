"""Two specialized kernels, compiled: where the second group of warps believes that its queries lie."""
import os
import re

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import torch

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")

from kernels.tools.benchmark import keep
from kernels.tools.compile_only import compile_only
from snippets.attention.shared_row import shared_row_kernel
from snippets.attention.specialized import specialized_attention_kernel

q = torch.empty(1, 4096, 128, dtype=torch.bfloat16, device="cuda" if torch.cuda.is_available() else "cpu")
sides = {"HEAD": 128, "BLOCK_M": 128, "BLOCK_N": 128, "SPECIALIZE": True, "num_warps": 4, "num_stages": 2}
found = {}
for name, kernel in (("shared", shared_row_kernel), ("own", specialized_attention_kernel)):
    made = compile_only(kernel, q, q, q, q, 4096, 0.1, **sides)
    second = made.asm["ttgir"].partition("partition1(")[2]  # what the second group does
    lanes = "start = 64" in second  # its queries are the lanes from 64 on
    starts = re.findall(r"tt\.splat (%\w+) .*tensor<64xi32", second)  # what is added to lanes of queries
    moved = any(re.search(rf"{start} = arith\.addi %row\w*, %c64_i32", second) for start in starts)
    found[name] = {"lanes": "yes" if lanes else "no", "moved": "yes" if moved else "no"}
    print(f"{name}: lanes from 64 on: {lanes}, added to a row that has 64 added: {moved}")
    #> shared: lanes from 64 on: True, added to a row that has 64 added: True
    #> own: lanes from 64 on: True, added to a row that has 64 added: False
keep(figures=found)
