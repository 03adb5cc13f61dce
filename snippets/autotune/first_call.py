"""What the decorator does on the first call and on the next ones, by a kernel that counts its own launches."""
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
device = "cuda" if torch.cuda.is_available() else "cpu"
launches, lanes = torch.zeros(2, dtype=torch.int32, device=device).split(1)


def count_lanes(call, quantiles):
    """Stands in for a clock: what a launch costs is 100 a program and 1 a lane."""
    lanes.zero_()
    call()
    return [lanes.item()] * len(quantiles)


@triton.jit
def double_kernel(x_ptr, y_ptr, launches_ptr, lanes_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x * 2, mask=offsets < n)
    tl.atomic_add(lanes_ptr, 100 + BLOCK)
    tl.atomic_add(launches_ptr, 1, mask=pid == 0)


tuned = triton.autotune(
    configs=[triton.Config({"BLOCK": block}) for block in (32, 256, 1024)],
    key=["n"],
    do_bench=count_lanes,  # leave it out and Triton takes the GPU's time
)(double_kernel)


def double(kernel, x):
    """Call it, and say how often the kernel was launched for that."""
    launches.zero_()
    y, n = torch.empty_like(x), x.numel()

    def grid(meta):
        return (triton.cdiv(n, meta["BLOCK"]),)

    kernel[grid](x, y, launches, lanes, n)
    assert torch.equal(y, x * 2)
    return f"{launches.item()} launches, {kernel.best_config.kwargs}"
# --8<-- [end:kernel]


# --8<-- [start:calls]
x = torch.randn(1000, device=device)
print("first call:        ", double(tuned, x))
#> first call:         4 launches, {'BLOCK': 1024}
print("second call:       ", double(tuned, x))
#> second call:        1 launches, {'BLOCK': 1024}
print("20 numbers:        ", double(tuned, x[:20]))
#> 20 numbers:         4 launches, {'BLOCK': 32}
print("1000 in float16:   ", double(tuned, x.half()))
#> 1000 in float16:    4 launches, {'BLOCK': 1024}
print("1000 once again:   ", double(tuned, x))
#> 1000 once again:    1 launches, {'BLOCK': 1024}
print(len(tuned.cache), "choices; the key of the first:")
#> 3 choices; the key of the first:
print(next(iter(tuned.cache)))
#> (1000, 'torch.float32', 'torch.float32', 'torch.int32', 'torch.int32')
# --8<-- [end:calls]


# --8<-- [start:stale]
without_n = triton.autotune(tuned.configs, key=[], do_bench=count_lanes)(double_kernel)
print("20 numbers first:", double(without_n, x[:20]))
#> 20 numbers first: 4 launches, {'BLOCK': 32}
print("1000 after them: ", double(without_n, x))
#> 1000 after them:  1 launches, {'BLOCK': 32}
print("what 1000 need:  ", double(tuned, x))
#> what 1000 need:   1 launches, {'BLOCK': 1024}
# --8<-- [end:stale]


# --8<-- [start:misspelled]
try:
    misspelled = triton.autotune(tuned.configs, ["N"], do_bench=count_lanes)
    misspelled = misspelled(double_kernel)
    double(misspelled, x[:20])
    print("1000, with key N:", double(misspelled, x))
    #> 1000, with key N: 1 launches, {'BLOCK': 32}
except ValueError as error:  # from Triton 3.9 on
    print(error)
# --8<-- [end:misspelled]
