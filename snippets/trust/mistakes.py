"""A softmax with four mistakes to choose from, and two tests: one that passes them all, and one that finds them."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def mistaken_softmax_kernel(
    x_ptr, y_ptr, n_columns, MISTAKE: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    offsets = row * n_columns + columns  # [BLOCK]
    filler = 0.0 if MISTAKE == "filler" else -float("inf")
    x = tl.load(x_ptr + offsets, mask=mask, other=filler)
    if MISTAKE != "no maximum":
        x -= tl.max(x, axis=0)
    numerator = tl.exp(x)  # [BLOCK]
    last = columns == n_columns - 1  # [BLOCK]
    total = tl.sum(numerator, axis=0)
    if MISTAKE == "forgotten":
        total -= tl.sum(tl.where(last, numerator, 0.0), axis=0)
    if MISTAKE == "tail":
        mask = columns < n_columns - 1
    tl.store(y_ptr + offsets, numerator / total, mask=mask)


def softmax_with(mistake, x, y):
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    mistaken_softmax_kernel[(rows,)](x, y, columns, MISTAKE=mistake, BLOCK=block)
    return y
# --8<-- [end:kernel]


# --8<-- [start:careless]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)


def careless(mistake):
    x = torch.randn(4, 1024).to(device)
    y = softmax_with(mistake, x, torch.zeros_like(x))
    return torch.allclose(y, torch.softmax(x, dim=-1), atol=1e-2)


for mistake in ("none", "filler", "no maximum", "forgotten", "tail"):
    print(f"{mistake:10} passes: {careless(mistake)}")
    #> none       passes: True
    #> filler     passes: True
    #> no maximum passes: True
    #> forgotten  passes: True
    #> tail       passes: True
# --8<-- [end:careless]


# --8<-- [start:careful]
def careful(mistake):
    for columns in (1, 7, 1000, 1024):
        for shift in (0, 100):
            x = torch.randn(4, columns).to(device) + shift
            y = softmax_with(mistake, x, torch.full_like(x, float("nan")))
            right = torch.softmax(x.double(), dim=-1)
            bound = 16 * torch.finfo(torch.float32).eps * right
            if not ((y - right).abs() <= bound).all():
                return False
    return True


for mistake in ("none", "filler", "no maximum", "forgotten", "tail"):
    print(f"{mistake:10} passes: {careful(mistake)}")
    #> none       passes: True
    #> filler     passes: False
    #> no maximum passes: False
    #> forgotten  passes: False
    #> tail       passes: False
# --8<-- [end:careful]
