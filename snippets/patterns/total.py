"""The sum of a whole array in two ways: partial sums and a second kernel, or one atomic addition a program."""
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


# --8<-- [start:kernel]
@triton.jit
def partial_sum_kernel(
    x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr, ATOMIC: tl.constexpr
):
    pid = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(pid * BLOCK, n_elements, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
        total += x.to(tl.float32)
    if ATOMIC:
        tl.atomic_add(out_ptr, tl.sum(total, axis=0))  # all programs into one number
    else:
        tl.store(out_ptr + pid, tl.sum(total, axis=0))  # each program into its own


def total_two_stage(x, programs=1024):
    partial = torch.empty(programs, device=x.device)
    partial_sum_kernel[(programs,)](x, partial, x.numel(), BLOCK=2048, ATOMIC=False)
    out = torch.empty((), device=x.device)
    partial_sum_kernel[(1,)](partial, out, programs, BLOCK=1024, ATOMIC=False)
    return out


def total_atomic(x, programs=1024):
    out = torch.zeros((), device=x.device)  # must start at zero
    partial_sum_kernel[(programs,)](x, out, x.numel(), BLOCK=2048, ATOMIC=True)
    return out
# --8<-- [end:kernel]


# --8<-- [start:use]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(200_000, device=device)
for total in (total_two_stage, total_atomic):
    torch.testing.assert_close(total(x, programs=16), x.sum(), rtol=1e-4, atol=0)
print("both agree with PyTorch")
#> both agree with PyTorch
# --8<-- [end:use]
