"""A kernel that is tuned when it is called: when a search happens, and what is kept of it."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:clock]
import time

import torch
import triton
import triton.language as tl


def wall_clock(call, quantiles):
    """One run, by the host's clock."""
    start = time.perf_counter()
    call()
    return [time.perf_counter() - start] * len(quantiles)


clock = None if torch.cuda.is_available() else wall_clock  # None: Triton's own, the GPU's
# --8<-- [end:clock]


# --8<-- [start:kernel]
@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 128}, num_warps=1),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 4096}, num_warps=8),
    ],
    key=["n"],
    do_bench=clock,
)
@triton.jit
def tuned_scale(x_ptr, y_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x * factor, mask=offsets < n)


def scale(x, factor):
    y, n = torch.empty_like(x), x.numel()

    def grid(meta):
        return (triton.cdiv(n, meta["BLOCK"]),)

    tuned_scale[grid](x, y, n, factor)
    return y
# --8<-- [end:kernel]


# --8<-- [start:calls]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(10_000, device=device)
for what, given, factor in [
    ("first call", x, 2.0),
    ("the same again", x, 2.0),
    ("another factor", x, 3.0),
    ("half as long", x[:5000], 2.0),
    ("in float16", x.half(), 2.0),
]:
    assert torch.equal(scale(given, factor), given * factor)
    print(f"{what:15} searches so far: {len(tuned_scale.cache)}")
    #> first call      searches so far: 1
    #> the same again  searches so far: 1
    #> another factor  searches so far: 1
    #> half as long    searches so far: 2
    #> in float16      searches so far: 3
print(list(tuned_scale.cache)[-1])
#> (10000, 'torch.float16', 'torch.float16')
# --8<-- [end:calls]
