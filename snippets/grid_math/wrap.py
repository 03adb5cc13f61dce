"""When 32 bits do not suffice: one program's offsets, far out, with and without a 64-bit program id."""
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


# --8<-- [start:wrap]
@triton.jit
def far_offsets_kernel(first_ptr, pid, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    if WIDE:
        pid = pid.to(tl.int64)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(first_ptr + tl.arange(0, BLOCK), offsets)


device = "cuda" if torch.cuda.is_available() else "cpu"
first = torch.zeros(1024, dtype=torch.int64, device=device)
for pid in (2**21 - 1, 2**21):
    for wide in (False, True):
        # The program's number is passed in: the two million before it need not run.
        far_offsets_kernel[(1,)](first, pid, BLOCK=1024, WIDE=wide)
        name = "int64" if wide else "int32"
        print(f"program {pid:,}, {name}: {first[0].item():,} to {first[-1].item():,}")
        #> program 2,097,151, int32: 2,147,482,624 to 2,147,483,647
        #> program 2,097,151, int64: 2,147,482,624 to 2,147,483,647
        #> program 2,097,152, int32: -2,147,483,648 to -2,147,482,625
        #> program 2,097,152, int64: 2,147,483,648 to 2,147,484,671
# --8<-- [end:wrap]
