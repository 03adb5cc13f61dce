"""What an argument costs the host: kernels that do next to nothing, with eight arguments more, of each kind."""
# needs: cuda
import statistics
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:kernels]
import triton
import triton.language as tl


@triton.jit
def host_one_kernel(x_ptr):
    tl.store(x_ptr, 1.0)


@triton.jit
def host_tensors_kernel(x_ptr, a, b, c, d, e, f, g, h):
    tl.store(x_ptr, 1.0)


@triton.jit
def host_numbers_kernel(x_ptr, a, b, c, d, e, f, g, h):
    tl.store(x_ptr, 1.0)


@triton.jit(do_not_specialize=("a", "b", "c", "d", "e", "f", "g", "h"))
def host_unspecialized_kernel(x_ptr, a, b, c, d, e, f, g, h):
    tl.store(x_ptr, 1.0)


@triton.jit
def host_constants_kernel(
    x_ptr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
    D: tl.constexpr,
    E: tl.constexpr,
    F: tl.constexpr,
    G: tl.constexpr,
    H: tl.constexpr,
):
    tl.store(x_ptr, 1.0)
# --8<-- [end:kernels]


from kernels.tools.benchmark import keep
from snippets.inductor.captured import queued_us

# --8<-- [start:calls]
x, numbers = torch.zeros(1, device="cuda"), (32, 48, 64, 80, 96, 112, 128, 144)
others = torch.zeros(8, 16, device="cuda").unbind()
named = dict(zip("ABCDEFGH", numbers, strict=True))
CALLS = {
    "one tensor": (host_one_kernel, (x,), {}),
    "8 tensors more": (host_tensors_kernel, (x, *others), {}),
    "8 whole numbers more": (host_numbers_kernel, (x, *numbers), {}),
    "8 numbers that are not specialized": (host_unspecialized_kernel, (x, *numbers), {}),
    "8 constants more": (host_constants_kernel, (x, *numbers), {}),
    "8 constants by name": (host_constants_kernel, (x,), named),
    "4 options by name": (host_one_kernel, (x,), {"num_warps": 1, "num_stages": 1, "num_ctas": 1, "enable_fp_fusion": True}),
}
# --8<-- [end:calls]

launches = {name: lambda c=call: c[0][(1,)](*c[1], **c[2]) for name, call in CALLS.items()}
compiled = {}
for name, launch in launches.items():
    x.zero_()
    made = launch()
    assert x.item() == 1, name
    compiled[name] = lambda m=made, c=CALLS[name]: m[(1, 1, 1)](*c[1], *(c[2][k] for k in c[2] if k in "ABCDEFGH"))
    x.zero_()
    compiled[name]()
    assert x.item() == 1, name
visits = [queued_us(*launches.values(), *compiled.values()) for _ in range(5)]
times = [statistics.median(values) for values in zip(*visits, strict=True)]
kept = {name: {"launch": times[i], "compiled": times[i + len(CALLS)]} for i, name in enumerate(CALLS)}
print("microseconds of the host's        launch   of a compiled kernel")
for name, us in kept.items():
    print(f"{name:34}{us['launch']:>6.2f}{us['compiled']:>23.2f}")
keep(figures=kept)
