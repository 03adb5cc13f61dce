"""A name in autotune's key that no argument has: once it was left out without a word."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:names]
@triton.jit
def double_named_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


def trials(key):
    tried = []
    configs = [triton.Config({"BLOCK": block}) for block in (64, 128)]
    clock = lambda call, quantiles: tried.append(call()) or [1.0] * 3  # noqa: E731
    tuned = triton.autotune(configs, key=key, do_bench=clock)(double_named_kernel)
    for n in (100, 1000):
        x = torch.rand(n, device=device)
        tuned[lambda choice: (triton.cdiv(n, choice["BLOCK"]),)](x, torch.empty_like(x), n)
    counted.append(f"key={key}: {len(tried)} trials for two lengths")


counted = []
before = error_of(lambda: trials(["n"]))  # a name that no argument has
after = error_of(lambda: trials(["n_elements"]))
# --8<-- [end:names]
print(before, after, *counted, sep="\n")
