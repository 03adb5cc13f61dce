"""Which errors of one configuration the tuner survives, and which end the search."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import contextlib
import io

from kernels.tools.benchmark import keep

# --8<-- [start:survives]
import triton
import triton.language as tl


@triton.jit
def refuse_large(BLOCK: tl.constexpr):
    tl.static_assert(BLOCK < 512, "too large")


@triton.jit
def faulty_kernel(x_ptr, y_ptr, FAULT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.static_assert(FAULT != "static_assert in all", "no block will do")
    if BLOCK == 512:  # only one of the configurations is faulty
        if FAULT == "static_assert":
            tl.static_assert(BLOCK < 512, "too large")
        if FAULT == "static_assert in a helper":
            refuse_large(BLOCK)
        if FAULT == "an instruction that ptxas refuses":
            x = tl.inline_asm_elementwise(
                "no.such.instruction $0, $1;", "=r,r", [x], tl.float32, is_pure=True, pack=1
            )
        if FAULT == "too much shared memory":
            rows, columns = tl.arange(0, 64)[:, None], tl.arange(0, 1024)[None, :]
            tile = tl.load(x_ptr + rows * 1024 + columns)  # 256 KiB
            x += tl.sum(tl.dot(tile, tl.trans(tile)))
        if FAULT == "shapes that do not fit":
            x += tl.arange(0, 256)
        if FAULT == "a function that is not there":
            x = tl.nothing(x)
        if FAULT == "a wrong result":
            x += 1
    tl.store(y_ptr + offsets, x)


def outcome(fault):
    configs = [triton.Config({"BLOCK": block}) for block in (512, 256)]
    tuned = triton.autotune(configs, key=[])(faulty_kernel)
    try:
        tuned[(1,)](x, y, FAULT=fault)
    except Exception as error:
        return f"the search ends: {type(error).__name__}"
    ranked = len([time for time in tuned.configs_timings.values() if time[0] < float("inf")])
    return f"{ranked} of 2 ranked"


x, y = torch.randn(64 * 1024, device="cuda"), torch.empty(512, device="cuda")
# --8<-- [end:survives]
FAULTS = ["none", "static_assert", "static_assert in a helper", "an instruction that ptxas refuses", "too much shared memory"]
FAULTS += ["shapes that do not fit", "a function that is not there", "a wrong result", "static_assert in all"]
found = {}
for fault in FAULTS:
    with contextlib.redirect_stdout(io.StringIO()):  # Triton prints the whole listing that ptxas refuses
        found[fault] = outcome(fault)
    print(f"{fault + ':':36}{found[fault]}")
keep(figures={"outcomes": found})
