"""Let every program take a ticket as it runs, to see in which order they came, and where each of them ran."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.benchmark import keep


# --8<-- [start:order]
@triton.jit
def take_ticket_kernel(counter_ptr, ticket_ptr, place_ptr):
    pid = tl.program_id(0)
    ticket = tl.atomic_add(counter_ptr, 1)  # the count before, and one is added
    place = tl.inline_asm_elementwise(
        "mov.u32 $0, %smid;", "=r", [], dtype=tl.int32, is_pure=True, pack=1
    )  # the number of the multiprocessor that runs this program
    tl.store(ticket_ptr + pid, ticket)
    tl.store(place_ptr + pid, place)


runs = []
for _ in range(3):
    counter = torch.zeros(1, dtype=torch.int32, device="cuda")
    tickets = torch.full((1024,), -1, dtype=torch.int32, device="cuda")
    places = torch.full_like(tickets, -1)
    take_ticket_kernel[(1024,)](counter, tickets, places)
    runs.append((tickets.tolist(), places.tolist()))

for tickets, places in runs[1:]:
    print("programs 0 to 7 took the tickets", *tickets[:8])
    print("   and ran on the multiprocessors", *places[:8])
# --8<-- [end:order]
(_, _), (one, places), (two, again) = runs
assert all(sorted(tickets) == list(range(1024)) for tickets in (one, two))
late = sum(later < earlier for earlier, later in zip(one, one[1:], strict=False))
same = sum(a == b for a, b in zip(one, two, strict=True))
moved = sum(a != b for a, b in zip(places, again, strict=True))
print(f"{late} programs of 1023 came before their predecessor; {same} of 1024 had the same ticket in both runs")
print(f"{len(set(places))} multiprocessors; {moved} programs ran on another one in the second run")
furthest = max(abs(ticket - pid) for pid, ticket in enumerate(one))
figures = {"tickets": one, "again": two, "places": places, "late": late, "same": same, "moved": moved}
keep(figures=figures | {"multiprocessors": len(set(places)), "furthest": furthest})
