"""In which order does this GPU start the programs of a two-dimensional grid? Each draws a ticket."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import keep


# --8<-- [start:launch_order]
@triton.jit
def ticket_kernel(counter_ptr, tickets_ptr, n_y):
    x, y = tl.program_id(0), tl.program_id(1)
    tl.store(tickets_ptr + x * n_y + y, tl.atomic_add(counter_ptr, 1))


n_x, n_y = 300, 400
counter = torch.zeros(1, dtype=torch.int32, device="cuda")
tickets = torch.empty(n_x, n_y, dtype=torch.int32, device="cuda")
ticket_kernel[(n_x, n_y)](counter, tickets, n_y)
x = torch.arange(n_x, device="cuda")[:, None]
y = torch.arange(n_y, device="cuda")[None, :]
first = ((tickets - (y * n_x + x)).abs().double().mean()).item()
second = ((tickets - (x * n_y + y)).abs().double().mean()).item()
exact = int((tickets == y * n_x + x).sum())
print(f"{n_x * n_y:,} programs, each with a ticket. On average a ticket is off by")
print(f"{first:,.0f} places, if axis 0 runs fastest (program {n_x} is (0, 1))")
print(f"{second:,.0f} places, if axis 1 runs fastest (program {n_y} is (1, 0))")
print(f"tickets exactly in the first order: {exact:,}")
# --8<-- [end:launch_order]
assert tickets.flatten().sort().values.equal(torch.arange(n_x * n_y, dtype=torch.int32, device="cuda"))
keep(figures={"axis_0": first, "axis_1": second, "exact": exact, "programs": n_x * n_y})
