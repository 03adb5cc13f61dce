"""Put one block behind another: three ways, of which one runs on every Triton."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:before]
@triton.jit
def cat_kernel(out_ptr, REORDER: tl.constexpr):
    x = tl.cat(tl.arange(0, 4), tl.arange(4, 8), can_reorder=REORDER)
    tl.store(out_ptr + tl.arange(0, 8), x)


out = torch.zeros(8, dtype=torch.int32, device=device)
strict = error_of(lambda: cat_kernel[(1,)](out, REORDER=False))
loose = error_of(lambda: cat_kernel[(1,)](out, REORDER=True))
# --8<-- [end:before]
for reorder, said in ((False, strict), (True, loose)):
    print(f"can_reorder={reorder}: {said.splitlines()[-1]}")


# --8<-- [start:after]
@triton.jit
def end_to_end_kernel(out_ptr):
    pairs = tl.join(tl.arange(0, 4), tl.arange(4, 8))  # [4, 2]: 0 4, 1 5, 2 6, 3 7
    x = tl.reshape(tl.trans(pairs), [8])
    tl.store(out_ptr + tl.arange(0, 8), x)


out = torch.zeros(8, dtype=torch.int32, device=device)
end_to_end_kernel[(1,)](out)
print(out.tolist())
#> [0, 1, 2, 3, 4, 5, 6, 7]
# --8<-- [end:after]
