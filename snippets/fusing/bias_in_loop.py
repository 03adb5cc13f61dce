"""A bias that is added inside the loop along K: right for a short K, and added once too often for every further step."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:bias_in_loop]
@triton.jit
def early_bias_kernel(x_ptr, w_ptr, bias_ptr, y_ptr, K, SIDE: tl.constexpr):
    # One program, one tile of y, SIDE by SIDE; SIDE divides K.
    rows, columns = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    bias = tl.load(bias_ptr + columns)  # [1, SIDE]
    total = tl.zeros((SIDE, SIDE), tl.float32)
    for start in range(0, K, SIDE):
        x = tl.load(x_ptr + rows * K + start + columns)
        w = tl.load(w_ptr + columns * K + start + rows)
        total = tl.dot(x, w, total, input_precision="ieee") + bias
    tl.store(y_ptr + rows * SIDE + columns, total)


for K in (32, 128):
    x, weight = (torch.ones(32, K, device=device) for _ in range(2))
    bias, y = torch.full((32,), 1000.0, device=device), torch.empty(32, 32, device=device)
    early_bias_kernel[(1,)](x, weight, bias, y, K, SIDE=32)
    print(f"K = {K}: {y[0, 0].item():.0f}, and right is {K + 1000}")
    #> K = 32: 1032, and right is 1032
    #> K = 128: 4128, and right is 1128
# --8<-- [end:bias_in_loop]
