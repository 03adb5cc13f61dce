"""Ask the driver how many programs of a kernel a multiprocessor holds, and compare with the arithmetic."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import ctypes

import triton
import triton.language as tl

from kernels.tools.benchmark import keep
from kernels.tools.hardware import programs_that_fit
from kernels.tools.roofline.measured import limits_of
from kernels.softmax.softmax import softmax_kernel


@triton.jit
def staged_product_kernel(a_ptr, b_ptr, c_ptr, K, SIDE: tl.constexpr, STEP: tl.constexpr):
    # This program owns the one tile of c = a @ b; SIDE rows and columns, in steps of STEP along K.
    side, step = tl.arange(0, SIDE), tl.arange(0, STEP)
    c = tl.zeros((SIDE, SIDE), dtype=tl.float32)
    for k in range(0, K, STEP):
        a = tl.load(a_ptr + side[:, None] * K + (k + step)[None, :])
        b = tl.load(b_ptr + (k + step)[:, None] * SIDE + side[None, :])
        c = tl.dot(a, b, c)
    tl.store(c_ptr + side[:, None] * SIDE + side[None, :], c)


driver = ctypes.CDLL("libcuda.so.1")
limits = limits_of(torch.cuda.current_device())
print("a multiprocessor:", ", ".join(f"{name} {value:,}" for name, value in limits.items()))


def resident(kernel):
    threads, shared = 32 * kernel.metadata.num_warps, ctypes.c_size_t(kernel.metadata.shared)
    function, answer = ctypes.c_void_p(kernel.function), ctypes.c_int()
    status = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(ctypes.byref(answer), function, threads, shared)
    assert status == 0, f"the driver answers with error {status}"
    return answer.value


launched = {}
x = torch.randn(4, 8192, device="cuda")
y = torch.empty_like(x)
for warps, cap in ((4, None), (4, 64), (8, None), (8, 48), (8, 32), (16, None), (16, 32), (32, None)):
    options = {"num_warps": warps} | ({"maxnreg": cap} if cap else {})
    kernel = softmax_kernel[(4,)](x, y, 8192, 8192, 8192, BLOCK=8192, **options)
    torch.testing.assert_close(y, torch.softmax(x, dim=-1))
    launched[f"softmax {warps} warps" + (f", cap {cap}" if cap else "")] = kernel
a, b = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for shape in ((128, 512), (512, 128)))
c = torch.empty(128, 128, device="cuda")
for stages in (1, 2, 3, 4):
    kernel = staged_product_kernel[(1,)](a, b, c, 512, SIDE=128, STEP=64, num_warps=8, num_stages=stages)
    torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-2, atol=1e-1)
    launched[f"product {stages} stages"] = kernel

kept = {}
print(f"{'kernel':26}{'registers':>10}{'spilled':>9}{'shared':>9}{'arithmetic':>12}{'limit':>15}{'driver':>8}")
for name, kernel in launched.items():
    fit = programs_that_fit(kernel.n_regs, kernel.metadata.num_warps, kernel.metadata.shared, limits)
    least, known = min(fit, key=fit.get), resident(kernel)
    row = {"registers": kernel.n_regs, "spilled": 4 * kernel.n_spills, "shared": kernel.metadata.shared}
    print(f"{name:26}{row['registers']:10}{row['spilled']:9}{row['shared']:9,}{fit[least]:12}{least:>15}{known:8}")
    kept[name.replace(",", "").replace(" ", "_")] = row | {"fit": fit[least], "driver": known, "limit": least}
agreed = sum(row["fit"] == row["driver"] for row in kept.values())
print(f"arithmetic and driver agree on {agreed} of {len(kept)}")
keep(figures={"limits": limits, "kernels": kept, "agreed": agreed, "all": len(kept)})
