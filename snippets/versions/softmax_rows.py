"""tl.softmax along the rows of a square tile, called in three ways, and written out."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:rows]
@triton.jit
def softmax_rows_kernel(x_ptr, out_ptr, CALL: tl.constexpr):
    square = tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    x = tl.load(x_ptr + square)
    if CALL == "tl.softmax(x, 1)":
        y = tl.softmax(x, 1)
    elif CALL == "tl.softmax(x, 1, True)":
        y = tl.softmax(x, 1, True)
    elif CALL == "tl.softmax(x, 1, keep_dims=True)":
        y = tl.softmax(x, 1, keep_dims=True)
    else:
        e = tl.exp(x - tl.max(x, 1, keep_dims=True))
        y = e / tl.sum(e, 1, keep_dims=True)
    tl.store(out_ptr + square, y)


x = torch.randn(8, 8, device=device)
told = []
for call in ("tl.softmax(x, 1)", "tl.softmax(x, 1, True)", "tl.softmax(x, 1, keep_dims=True)", "written out"):
    out = torch.zeros_like(x)
    said = error_of(lambda call=call, out=out: softmax_rows_kernel[(1,)](x, out, CALL=call)).splitlines()[-1]
    told.append(f"{call}: {'right' if torch.allclose(out, x.softmax(1)) else 'wrong'}, {said}")
# --8<-- [end:rows]
print(*told, sep="\n")
