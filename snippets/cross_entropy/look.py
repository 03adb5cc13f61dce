"""A kernel that looks at the incoming gradient on the GPU, and has nothing to do if it is one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def scale_unless_one_kernel(dx_ptr, dloss_ptr, n_elements, BLOCK: tl.constexpr):
    dloss = tl.load(dloss_ptr)
    if dloss == 1.0:
        return  # what lies there is right
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    dx = tl.load(dx_ptr + offsets, mask=mask)
    tl.store(dx_ptr + offsets, dx * dloss, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
ready = torch.randn(6, 1000, device=device)  # written with the loss
for dloss in (1.0, 1024.0):
    dx, factor = ready.clone(), torch.tensor(dloss, device=device)
    scale_unless_one_kernel[(6,)](dx, factor, 6000, BLOCK=1024)
    torch.testing.assert_close(dx, dloss * ready)
    print(f"{dloss:6}: touched {not torch.equal(dx, ready)}")
    #>    1.0: touched False
    #> 1024.0: touched True
# --8<-- [end:launch]
