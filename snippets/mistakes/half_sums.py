"""Sums in the type of the storage: float16 and bfloat16 run out of range or of digits."""
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


# --8<-- [start:half_sums]
@triton.jit
def sum_kept_kernel(x_ptr, out_ptr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if WIDE:
        x = x.to(tl.float32)
    total = tl.sum(x, axis=0)  # the mistake, unless WIDE
    tl.store(out_ptr, total.to(tl.float32))


device = "cuda" if torch.cuda.is_available() else "cpu"
for value in (1.0, 32.0):
    x = torch.full((4096,), value, dtype=torch.float16, device=device)
    for wide in (False, True):
        out = torch.full((1,), float("nan"), device=device)
        sum_kept_kernel[(1,)](x, out, WIDE=wide, BLOCK=4096)
        print(f"4096 times {value}, in float32 {wide!s:5}: {out.item()}")
        #> 4096 times 1.0, in float32 False: 4096.0
        #> 4096 times 1.0, in float32 True : 4096.0
        #> 4096 times 32.0, in float32 False: inf
        #> 4096 times 32.0, in float32 True : 131072.0
# --8<-- [end:half_sums]
assert out.item() == 4096 * 32
