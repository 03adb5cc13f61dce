"""What goes wrong when half-precision numbers are summed as they are."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:half_sum]
@triton.jit
def half_sum_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if WIDE:
        x = x.to(tl.float32)
    tl.store(out_ptr, tl.sum(x, axis=0))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.full((4096,), 32.0, dtype=torch.float16, device=device)
out = torch.empty((), device=device)  # float32: there is room for the result
for wide in (False, True):
    half_sum_kernel[(1,)](x, out, BLOCK=4096, WIDE=wide)
    print(f"summed in {'float32' if wide else 'float16'}: {out.item()}")
    #> summed in float16: inf
    #> summed in float32: 131072.0
# --8<-- [end:half_sum]
