"""Arguments of a launch for which Triton has no type: a NumPy array, a list, a string."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def line_kernel(x_ptr, y_ptr, line, activation, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    y = line[0] * tl.load(x_ptr + offsets) + line[1]
    if activation == "relu":
        y = tl.maximum(y, 0.0)
    tl.store(y_ptr + offsets, y)


x = torch.randn(1024, device=device)
y = torch.empty_like(x)
said = error_of(lambda: line_kernel[(1,)](x.cpu().numpy(), y, (2.0, 1.0), None, BLOCK=1024))  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:wrong_list]
said = error_of(lambda: line_kernel[(1,)](x, y, [2.0, 1.0], None, BLOCK=1024))  # the mistake
# --8<-- [end:wrong_list]
print(said)

# --8<-- [start:wrong_string]
said = error_of(lambda: line_kernel[(1,)](x, y, (2.0, 1.0), "relu", BLOCK=1024))  # the mistake
# --8<-- [end:wrong_string]
print(said)


# --8<-- [start:right]
@triton.jit
def line_kernel(x_ptr, y_ptr, line, activation: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    y = line[0] * tl.load(x_ptr + offsets) + line[1]
    if activation == "relu":
        y = tl.maximum(y, 0.0)
    tl.store(y_ptr + offsets, y)


line_kernel[(1,)](x, y, (2.0, 1.0), "relu", BLOCK=1024)
print(torch.allclose(y, torch.relu(2 * x + 1)))
#> True
# --8<-- [end:right]
