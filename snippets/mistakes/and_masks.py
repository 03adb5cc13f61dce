"""Two masks joined by `and` instead of `&`: the compiler warns, the interpreter counts other lanes."""
import os
import warnings

import torch

os.environ["TRITON_ALWAYS_COMPILE"] = "1"  # a kernel from the cache would bring no warning
if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction


# --8<-- [start:and_masks]
@triton.jit
def join_kernel(out_ptr, WORD: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    if WORD:
        mask = (lanes < 5) and (lanes < 7)  # the mistake
    else:
        mask = (lanes < 5) & (lanes < 7)
    tl.store(out_ptr + lanes, 1, mask=mask)
# --8<-- [end:and_masks]


def warned(word):
    """What the compiler says, without the name of the file."""
    types = {"out_ptr": "*i32", "WORD": "constexpr", "BLOCK": "constexpr"}
    source = ASTSource(JITFunction(join_kernel.fn), types, constexprs={(1,): word, (2,): 16})
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        triton.compile(source, target=GPUTarget("cuda", 90, 32))
    return [str(warning.message) for warning in found if "Logical" in str(warning.message)]


device = "cuda" if torch.cuda.is_available() else "cpu"
said = {word: warned(word) for word in (True, False)}  # before the interpreter starts
for word in (True, False):
    out = torch.zeros(16, dtype=torch.int32, device=device)
    join_kernel[(1,)](out, WORD=word, BLOCK=16)
    print(f"{'and' if word else '&'}: {int(out.sum())} lanes kept")
    print("    the compiler:", (said[word] or ["no objection"])[0])
assert int(out.sum()) == 5 and said[True]
