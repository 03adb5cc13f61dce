"""Let every program take a ticket as it runs, to see in which order they came, and where each of them ran."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import keep


# --8<-- [start:order]
@triton.jit
def take_ticket_kernel(counter_ptr, ticket_ptr, place_ptr):
    pid = tl.program_id(0)
    ticket = tl.atomic_add(counter_ptr, 1)  # the count before, and one is added
    place = tl.extra.cuda.smid()  # the multiprocessor that runs this program
    tl.store(ticket_ptr + pid, ticket)
    tl.store(place_ptr + pid, place)


counter = torch.zeros(1, dtype=torch.int32, device="cuda")
tickets = torch.full((512,), -1, dtype=torch.int32, device="cuda")
places = torch.full_like(tickets, -1)
runs = []
for _ in range(3):
    counter.zero_()
    take_ticket_kernel[(512,)](counter, tickets, places)
    runs.append(tickets.tolist())
for tickets_of_run in runs[1:]:  # the first run also compiled the kernel
    print("programs 0 to 7 took the tickets", *tickets_of_run[:8])
print("the last time they ran on the multiprocessors", *places[:8].tolist())
# --8<-- [end:order]
one, two = runs[1:]
assert all(sorted(tickets) == list(range(512)) for tickets in (one, two))
same = sum(a == b for a, b in zip(one, two, strict=True))
print(f"{same} programs of 512 had the same ticket both times")
used = len(set(places.tolist()))
print(f"{used} multiprocessors took part")
# How often a program came to the counter after the one before it.
after = sum(earlier < later for earlier, later in zip(two, two[1:], strict=False))
keep(figures={"tickets": two, "before": one, "places": places.tolist(), "same": same, "after": after, "used": used})
