"""Let every program of a 2-D grid write its own two numbers."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]


# --8<-- [start:owners]
@triton.jit
def tile_owner_kernel(
    out_ptr, n_rows, n_columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < n_rows) & (columns < n_columns)
    number = 10 * tl.program_id(0) + tl.program_id(1)
    tl.store(out_ptr + rows * n_columns + columns, number, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
owner = torch.full((5, 10), -1, device=device)
tile_owner_kernel[(3, 3)](owner, 5, 10, BLOCK_M=2, BLOCK_N=4)
for row in owner.tolist():
    print(*(f"{number:02}" for number in row))
    #> 00 00 00 00 01 01 01 01 02 02
    #> 00 00 00 00 01 01 01 01 02 02
    #> 10 10 10 10 11 11 11 11 12 12
    #> 10 10 10 10 11 11 11 11 12 12
    #> 20 20 20 20 21 21 21 21 22 22
# --8<-- [end:owners]
