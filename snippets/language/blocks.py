"""Make blocks and change their shape."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:blocks]
import torch
import triton
import triton.language as tl


@triton.jit
def making_kernel(out_ptr):
    i = tl.arange(0, 4)  # 0, 1, 2, 3
    tl.store(out_ptr + i, i)
    tl.store(out_ptr + 4 + i, tl.full((4,), 7, tl.int32))
    tl.store(out_ptr + 8 + i, tl.zeros((4,), tl.int32))
    tl.store(out_ptr + 12 + i, (i * 0.75).to(tl.int32))  # a cast; `tl.cast(x, dtype)` is the same


@triton.jit
def shaping_kernel(out_ptr):
    i = tl.arange(0, 4)
    j = tl.arange(0, 2)
    rows = 4 * j[:, None] + i[None, :]  # [2, 4]; `tl.expand_dims(j, 1)` is `j[:, None]`
    spread = tl.broadcast_to(i[None, :], (2, 4))  # [2, 4], both rows 0 to 3
    turned = tl.trans(rows)  # [4, 2]; `tl.permute(rows, 1, 0)` is the same
    line = tl.reshape(turned, (8,))  # [8]
    pairs = tl.join(i, 10 * i)  # [4, 2]
    left, right = tl.split(pairs)  # [4] and [4] again
    k = tl.arange(0, 8)
    tl.store(out_ptr + rows, spread)
    tl.store(out_ptr + 8 + k, line)
    tl.store(out_ptr + 16 + k, tl.reshape(pairs, (8,)))
    tl.store(out_ptr + 24 + k, tl.interleave(left, right))
    tl.store(out_ptr + 32 + k, tl.flip(k, 0))


device = "cuda" if torch.cuda.is_available() else "cpu"
made = torch.empty((4, 4), dtype=torch.int32, device=device)
making_kernel[(1,)](made)
for name, row in zip(("arange", "full", "zeros", "to"), made.tolist(), strict=True):
    print(f"{name:12}", row)
    #> arange       [0, 1, 2, 3]
    #> full         [7, 7, 7, 7]
    #> zeros        [0, 0, 0, 0]
    #> to           [0, 0, 1, 2]
shaped = torch.empty((5, 8), dtype=torch.int32, device=device)
shaping_kernel[(1,)](shaped)
for name, row in zip(("broadcast_to", "trans", "join", "interleave", "flip"), shaped.tolist(), strict=True):
    print(f"{name:12}", row)
    #> broadcast_to [0, 1, 2, 3, 0, 1, 2, 3]
    #> trans        [0, 4, 1, 5, 2, 6, 3, 7]
    #> join         [0, 0, 1, 10, 2, 20, 3, 30]
    #> interleave   [0, 0, 1, 10, 2, 20, 3, 30]
    #> flip         [7, 6, 5, 4, 3, 2, 1, 0]
# --8<-- [end:blocks]
