"""Check a grid: count, for every element, the programs that own it."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]


# --8<-- [start:check]
@triton.jit
def count_owners_kernel(counts_ptr, n_elements, step, BLOCK: tl.constexpr):
    # Put the offsets and the mask of your own kernel here.
    offsets = tl.program_id(0) * step + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.atomic_add(counts_ptr + offsets, 1, mask=mask)


def ownership(counts):
    """Say which elements no program owns, and which are owned more than once."""
    words = []
    for what, found in (("missed", counts == 0), ("owned twice", counts > 1)):
        indices = found.nonzero().tolist()
        if indices:
            words += [f"{len(indices)} {what}, {indices[0]} to {indices[-1]}"]
    return "; ".join(words) or "every element has one program"


device = "cuda" if torch.cuda.is_available() else "cpu"
for programs, step in ((4, 256), (3, 256), (4, 250)):
    counts = torch.zeros(1000, dtype=torch.int32, device=device)
    count_owners_kernel[(programs,)](counts, 1000, step, BLOCK=256)
    print(f"{programs} programs, {step} apart:", ownership(counts))
    #> 4 programs, 256 apart: every element has one program
    #> 3 programs, 256 apart: 232 missed, [768] to [999]
    #> 4 programs, 250 apart: 18 owned twice, [250] to [755]
# --8<-- [end:check]
