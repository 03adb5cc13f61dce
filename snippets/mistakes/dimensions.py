"""Two one-dimensional blocks added without [:, None], and strides that are swapped."""
# sanitizer: memcheck
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:dimensions]
@triton.jit
def number_kernel(out_ptr, stride, FORM: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, N)
    cols = tl.arange(0, N)
    if FORM == "diagonal":
        offsets = rows * stride + cols  # the mistake
    elif FORM == "swapped":
        offsets = rows[:, None] + cols[None, :] * stride  # the mistake
    else:
        offsets = rows[:, None] * stride + cols[None, :]
    tl.store(out_ptr + offsets, rows if FORM == "diagonal" else rows[:, None])


device = "cuda" if torch.cuda.is_available() else "cpu"
expected = torch.arange(16.0, device=device)[:, None].expand(16, 16)
for form in ("diagonal", "swapped", "right"):
    out = torch.full((16, 16), float("nan"), device=device)
    number_kernel[(1,)](out, 16, FORM=form, N=16)
    written = int((~out.isnan()).sum())
    equal, transposed = torch.equal(out, expected), torch.equal(out, expected.T)
    print(f"{form}: wrote {written} of 256, equal {equal}, transposed {transposed}")
    #> diagonal: wrote 16 of 256, equal False, transposed False
    #> swapped: wrote 256 of 256, equal False, transposed True
    #> right: wrote 256 of 256, equal True, transposed False
# --8<-- [end:dimensions]
