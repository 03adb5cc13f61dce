"""Softmax as one kernel: a row is read once, worked on five times, and written once."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def five_in_one_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    offsets = row * n_columns + columns

    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf"))
    shifted = x - tl.max(x, axis=0)
    powers = tl.exp(shifted)
    y = powers / tl.sum(powers, axis=0)
    tl.store(y_ptr + offsets, y, mask=mask)


def five_in_one(x):
    y = torch.empty_like(x)
    rows, n_columns = x.shape
    block = triton.next_power_of_2(n_columns)
    five_in_one_kernel[(rows,)](x, y, n_columns, BLOCK=block)
    return y
# --8<-- [end:kernel]


if __name__ == "__main__":
    # --8<-- [start:check]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.randn(100, 4000, device=device)
    torch.testing.assert_close(five_in_one(x), torch.softmax(x, dim=-1))
    # --8<-- [end:check]
    print("the kernel agrees with PyTorch")
    #> the kernel agrees with PyTorch
