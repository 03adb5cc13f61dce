"""A group that is cut short at the bottom of c: without `tl.minimum`, tiles are missed and programs point past the end."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:ragged]
@triton.jit
def ragged_order_kernel(
    owners_ptr, n_rows, n_columns, GROUP_M: tl.constexpr, CUT: tl.constexpr
):
    turn = tl.program_id(0)
    group = turn // (GROUP_M * n_columns)
    inside = turn - group * (GROUP_M * n_columns)
    height = GROUP_M
    if CUT:
        height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
    pid_m = group * GROUP_M + inside % height
    pid_n = inside // height
    tl.atomic_add(owners_ptr + pid_m * n_columns + pid_n, 1)


device = "cuda" if torch.cuda.is_available() else "cpu"
n_rows, n_columns, group_m = 6, 5, 4
for cut in (False, True):
    owners = torch.zeros(8, n_columns, dtype=torch.int32, device=device)
    ragged_order_kernel[(n_rows * n_columns,)](owners, n_rows, n_columns, group_m, cut)
    missed = int((owners[:n_rows] == 0).sum())
    outside = int(owners[n_rows:].sum())
    print(f"cut short: {cut}. {missed} tiles missed, {outside} programs past the end")
    #> cut short: False. 4 tiles missed, 4 programs past the end
    #> cut short: True. 0 tiles missed, 0 programs past the end
# --8<-- [end:ragged]
