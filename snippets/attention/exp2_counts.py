"""The two causal kernels, compiled: how many instructions of each kind the arithmetic between the products takes."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import torch

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")

from kernels.tools.benchmark import keep
from kernels.tools.compile_only import compile_only
from snippets.attention.exp2 import exp2_attention_kernel
from snippets.attention_tiles.causal import causal_attention_kernel

WORDS = {"ex2": "ex2.approx", "mul": "mul.f32", "fma": "fma.rn.f32", "sub": "sub.f32"}
q = torch.empty(1, 4096, 128, dtype=torch.bfloat16, device="cuda" if torch.cuda.is_available() else "cpu")
sides = {"HEAD": 128, "BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8, "num_stages": 1}
found = {}
for name, kernel in (("exp", causal_attention_kernel), ("exp2", exp2_attention_kernel)):
    made = compile_only(kernel, q, q, q, q, 4096, 0.088, **sides)
    found[name] = {word: made.asm["ptx"].count(text) for word, text in WORDS.items()}
    print(f"{name:5}", found[name])
keep(figures=found)
