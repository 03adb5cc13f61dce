"""A lock: find the largest element and where it stands, a pair of numbers that no single atomic can change."""
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


# --8<-- [start:lock]
@triton.jit
def locked_max_kernel(
    x_ptr, best_ptr, place_ptr, lock_ptr, n_elements, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=-float("inf"))
    best, place = tl.max(x, axis=0, return_indices=True)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:  # 0 becomes 1 for one program at a time
        pass
    if best > tl.load(best_ptr, volatile=True):
        tl.store(best_ptr, best)
        tl.store(place_ptr, tl.program_id(0) * BLOCK + place)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x = torch.randn(10_000, device=device)
best = torch.full((), -float("inf"), device=device)
place, lock = torch.zeros(2, dtype=torch.int32, device=device)
locked_max_kernel[(triton.cdiv(10_000, 256),)](x, best, place, lock, 10_000, BLOCK=256)
assert best == x.max() and place == x.argmax()
print("the lock is open again:", lock.item() == 0)
#> the lock is open again: True
# --8<-- [end:lock]
