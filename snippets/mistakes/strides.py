"""A tensor that is not contiguous, passed to a kernel that takes it for contiguous."""
# sanitizer: memcheck
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:strides]
@triton.jit
def negate_flat_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)  # no strides
    tl.store(out_ptr + offsets, -x, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
whole = torch.arange(48.0, device=device).view(6, 8)
views = {"whole": whole, "transposed": whole.T, "left half": whole[:, :4]}
for name, x in views.items():
    n = x.numel()
    for how, given in (("as it is", x), ("contiguous", x.contiguous())):
        out = torch.full(x.shape, float("nan"), device=device)
        negate_flat_kernel[(triton.cdiv(n, 16),)](given, out, n, BLOCK=16)
        equal, unwritten = torch.equal(out, -x), int(out.isnan().sum())
        print(f"{name}, {how}: equal {equal}, never written {unwritten}")
        #> whole, as it is: equal True, never written 0
        #> whole, contiguous: equal True, never written 0
        #> transposed, as it is: equal False, never written 0
        #> transposed, contiguous: equal True, never written 0
        #> left half, as it is: equal False, never written 0
        #> left half, contiguous: equal True, never written 0
# --8<-- [end:strides]
