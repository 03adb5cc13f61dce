"""How many programs cover n elements: three formulas side by side."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:triton]
import triton
# --8<-- [end:triton]

# --8<-- [start:cover]
B = 64
print("   n  n // B  n // B + 1  (n + B - 1) // B  idle lanes")
#>    n  n // B  n // B + 1  (n + B - 1) // B  idle lanes
for n in (0, 1, 63, 64, 65, 1000, 1024):
    programs = (n + B - 1) // B
    print(f"{n:4}  {n // B:6}  {n // B + 1:10}  {programs:16}  {programs * B - n:10}")
    #>    0       0           1                 0           0
    #>    1       0           1                 1          63
    #>   63       0           1                 1           1
    #>   64       1           2                 1           0
    #>   65       1           2                 2          63
    #> 1000      15          16                16          24
    #> 1024      16          17                16           0
assert all(triton.cdiv(n, B) == (n + B - 1) // B for n in range(10_000))
# --8<-- [end:cover]
