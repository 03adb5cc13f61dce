"""What goes wrong with % on negative offsets: rotate a row by one."""
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


# --8<-- [start:roll]
@triton.jit
def roll_kernel(
    x_ptr, out_ptr, source_ptr, n, BLOCK: tl.constexpr, FIXED: tl.constexpr
):
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    source = (columns - 1) % n  # the mistake: the first is -1, not n - 1
    if FIXED:
        source = (columns - 1 + n) % n  # made positive first
    x = tl.load(x_ptr + source, mask=mask & (source >= 0), other=float("nan"))
    tl.store(out_ptr + columns, x, mask=mask)
    tl.store(source_ptr + columns, source, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([10.0, 11.0, 12.0, 13.0, 14.0], device=device)
out, source = torch.empty_like(x), torch.empty(5, dtype=torch.int32, device=device)
for fixed in (False, True):
    roll_kernel[(1,)](x, out, source, 5, BLOCK=8, FIXED=fixed)
    print(source.tolist(), out.tolist())
    #> [-1, 0, 1, 2, 3] [nan, 10.0, 11.0, 12.0, 13.0]
    #> [4, 0, 1, 2, 3] [14.0, 10.0, 11.0, 12.0, 13.0]
print("in Python, -1 % 5 is", -1 % 5)
#> in Python, -1 % 5 is 4
# --8<-- [end:roll]
assert source.tolist() == [4, 0, 1, 2, 3]
