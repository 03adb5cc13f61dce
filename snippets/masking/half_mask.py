"""One half of a two-dimensional mask forgotten: sums of tiles that reach into the next rows."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:half_mask]
@triton.jit
def tile_sum_kernel(
    x_ptr, out_ptr, M, N,
    ROWS: tl.constexpr, COLS: tl.constexpr, BLOCK: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    if not ROWS:
        mask = (rows[:, None] >= 0) & (cols[None, :] < N)  # the mistake
    if not COLS:
        mask = (rows[:, None] < M) & (cols[None, :] >= 0)  # the mistake
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    out_at = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    tl.store(out_ptr + out_at, tl.sum(tl.sum(x, axis=1), axis=0))


device = "cuda" if torch.cuda.is_available() else "cpu"
memory = torch.full((1024,), 1000.0, device=device)  # and what lies behind
x = memory[:400].view(20, 20).fill_(1.0)
for rows, cols in ((True, True), (True, False), (False, True)):
    out = torch.empty(2, 2, device=device)
    tile_sum_kernel[(2, 2)](x, out, 20, 20, ROWS=rows, COLS=cols, BLOCK=16)
    print(f"checked: rows {rows!s:5} columns {cols!s:5}", out.tolist())
    #> checked: rows True  columns True  [[256.0, 64.0], [64.0, 16.0]]
    #> checked: rows True  columns False [[256.0, 256.0], [64.0, 12052.0]]
    #> checked: rows False columns True  [[256.0, 64.0], [192064.0, 48016.0]]
# --8<-- [end:half_mask]
assert out[1, 0] > 64, "the mistake this program shows did not happen"
