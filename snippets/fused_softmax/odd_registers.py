"""Rows of an odd length, backward: how many registers a thread takes, how many programs that leaves room for, and the time."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import alternate, keep, quantiles
from kernels.softmax.short import softmax_short_backward_kernel

rows, columns = 8192, 5001
y = torch.softmax(torch.randn(rows, columns, device="cuda"), dim=-1).bfloat16()
dy = torch.randn(rows, columns, device="cuda").bfloat16()
dx = torch.empty_like(y)
expected = torch.ops.aten._softmax_backward_data(dy, y, -1, y.dtype)

# --8<-- [start:launches]
lengths = (columns, columns, columns, rows, columns)
meta = {"ROWS": 1, "BLOCK": 8192, "EVEN": False, "VECTOR": 1, "RELOAD": False}


def launch(num_warps, most):
    return softmax_short_backward_kernel[(rows,)](
        y, dy, dx, *lengths, **meta, num_warps=num_warps, maxnreg=most
    )


asked = [(8, None), (8, 80), (16, None), (16, 64), (16, 40), (32, None)]
compiled = [launch(*each) for each in asked]
times = alternate([lambda each=each: launch(*each) for each in asked])
print("warps  maxnreg  registers  bytes spilled  programs  microseconds")
kept = {}
for (warps, most), kernel, ms in zip(asked, compiled, times, strict=True):
    # Registers are handed out to warps, in eights for each of the 32 threads.
    programs = 65536 // (warps * 32 * -(-kernel.n_regs // 8) * 8)
    us = quantiles(ms)[1] * 1000
    print(f"{warps:5}  {most or '-':>7}  {kernel.n_regs:9}  {4 * kernel.n_spills:13}  {programs:8}  {us:12.1f}")
    # --8<-- [end:launches]
    dx.zero_()
    launch(warps, most)
    torch.testing.assert_close(dx, expected, rtol=2e-2, atol=1e-4)
    spilled = 4 * kernel.n_spills
    kept[f"{warps}_{most}"] = {"registers": kernel.n_regs, "spilled": spilled, "programs": programs, "us": us}
keep(figures=kept)
