"""Scans: every sum on the way, along rows of any length, and a recurrence that is no sum."""
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


# --8<-- [start:cumsum]
@triton.jit
def cumsum_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    # This program owns one row, and carries the sum so far from block to block.
    row = tl.program_id(0).to(tl.int64) * n_columns
    carry = 0.0
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        x = tl.load(x_ptr + row + columns, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + row + columns, carry + tl.cumsum(x, axis=0), mask=mask)
        carry += tl.sum(x, axis=0)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(5, 300, device=device)
y = torch.empty_like(x)
cumsum_kernel[(5,)](x, y, 300, BLOCK=64)
torch.testing.assert_close(y, x.cumsum(1))
# --8<-- [end:cumsum]


# --8<-- [start:recurrence]
@triton.jit
def then(decay_1, state_1, decay_2, state_2):
    # First "times decay_1, plus state_1", then "times decay_2, plus state_2".
    return decay_1 * decay_2, state_1 * decay_2 + state_2


@triton.jit
def recurrence_kernel(decay_ptr, x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    decay, x = tl.load(decay_ptr + offsets), tl.load(x_ptr + offsets)
    decay, y = tl.associative_scan((decay, x), axis=0, combine_fn=then)
    tl.store(y_ptr + offsets, y)


decay, x = torch.rand(3, 128, device=device), torch.rand(3, 128, device=device)
y = torch.empty_like(x)
recurrence_kernel[(3,)](decay, x, y, BLOCK=128)
state = torch.zeros(3, device=device)
for i in range(128):
    state = state * decay[:, i] + x[:, i]  # each step needs the one before
    torch.testing.assert_close(y[:, i], state)
print("128 steps that depend on each other, in one scan")
#> 128 steps that depend on each other, in one scan
# --8<-- [end:recurrence]
