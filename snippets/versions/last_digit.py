"""x * y + z, rounded once or twice: which digit it is."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

# --8<-- [start:device]
device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:device]


# --8<-- [start:digit]
@triton.jit
def last_digit_kernel(x_ptr, y_ptr, z_ptr, out_ptr):
    x, y, z = tl.load(x_ptr), tl.load(y_ptr), tl.load(z_ptr)
    tl.store(out_ptr, x * y + z)
    tl.store(out_ptr + 1, tl.fma(x, y, z))


told = []
x, y, z = (torch.tensor(value, device=device) for value in (1 + 2**-12, 1 + 2**-12, -1 - 2**-11))
told.append(f"exactly: {x.double().item() * y.double().item() + z.double().item()}")
for fused in (True, False):
    out = torch.zeros(2, device=device)
    last_digit_kernel[(1,)](x, y, z, out, enable_fp_fusion=fused)
    told.append(f"enable_fp_fusion={fused}: x * y + z is {out[0].item()}, tl.fma is {out[1].item()}")
# --8<-- [end:digit]
print(*told, sep="\n")
