"""A kernel that changes its input, tuned: the trials change it too, unless the tuner is told what to put back."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:in_place]
import triton
import triton.language as tl


def run_once(call, quantiles):
    call()
    return [1.0] * len(quantiles)


configs = [triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})]


@triton.jit
def double_in_place_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2)


@triton.jit
def add_up_kernel(x_ptr, total_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total_ptr, tl.sum(tl.load(x_ptr + offsets)))


device = "cuda" if torch.cuda.is_available() else "cpu"


def grid(meta):
    return (64 // meta["BLOCK"],)


for cure in ({}, {"restore_value": ["x_ptr"]}):
    double_in_place = triton.autotune(configs, key=[], do_bench=run_once, **cure)
    double_in_place = double_in_place(double_in_place_kernel)
    x = torch.ones(64, device=device)
    double_in_place[grid](x)
    first = x[0].item()
    double_in_place[grid](x)
    print(f"{cure}: 1 doubled is {first}, doubled again {x[0].item()}")
    #> {}: 1 doubled is 8.0, doubled again 16.0
    #> {'restore_value': ['x_ptr']}: 1 doubled is 2.0, doubled again 4.0
for cure in ({}, {"reset_to_zero": ["total_ptr"]}):
    tuned_sum = triton.autotune(configs, key=[], do_bench=run_once, **cure)(add_up_kernel)
    found = []
    for _ in range(2):
        total = torch.zeros(1, device=device)
        tuned_sum[grid](torch.ones(64, device=device), total)
        found.append(total.item())
    print(f"{cure}: 64 ones are {found[0]}, the next time {found[1]}")
    #> {}: 64 ones are 192.0, the next time 64.0
    #> {'reset_to_zero': ['total_ptr']}: 64 ones are 64.0, the next time 64.0
# --8<-- [end:in_place]
