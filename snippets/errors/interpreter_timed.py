"""Whether the interpreter runs a kernel, told by how much Python works during a launch."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import sys

import torch
import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:count]
@triton.jit
def double_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))


def python_calls(programs):
    """How many functions of Python are called during a launch that has compiled before."""
    x = torch.rand(128 * programs, device=device)
    y, events = torch.empty_like(x), []
    double_kernel[(programs,)](x, y, BLOCK=128)
    sys.setprofile(lambda frame, event, argument: events.append(event))
    double_kernel[(programs,)](x, y, BLOCK=128)
    sys.setprofile(None)
    return events.count("call")


grows = python_calls(101) - python_calls(1) >= 100
print(grows == triton.knobs.runtime.interpret)
#> True
# --8<-- [end:count]
