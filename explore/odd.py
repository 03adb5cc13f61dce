"""Not for the site: what rows of 5001 need backward, by where their tensors lie, and which tile suits rows of 128."""
import itertools

import torch

from kernels.benchmark import alternate, capture, quantiles
from kernels.norm_forward import norm_kernel
from kernels.softmax_long import softmax_long_backward_kernel
from kernels.softmax_short import softmax_short_backward_kernel

torch.cuda.set_stream(torch.cuda.Stream())
R, C = 8192, 5001
ARENA = torch.zeros(2**30, device="cuda", dtype=torch.bfloat16)


def placed(offset):
    return ARENA[offset // 2 : offset // 2 + R * C].view(R, C)


def short(y, dy, dx, warps, again):
    meta = {"ROWS": 1, "BLOCK": 8192, "FULL": False, "VECTOR": 1, "AGAIN": again, "num_warps": warps}
    return lambda: softmax_short_backward_kernel[(R,)](y, dy, dx, C, C, C, R, C, **meta)


def walked(y, dy, dx, block, warps):
    meta = {"BLOCK": block, "FULL": False, "BACK": False, "VECTOR": 1, "num_warps": warps}
    return lambda: softmax_long_backward_kernel[(R,)](y, dy, dx, C, C, C, C, **meta)


def times(calls, seconds=0.15):
    for call in calls.values():
        call()
    replays = [capture(call) for call in calls.values()]
    return {name: round(quantiles(t)[1] * 1e3, 1) for name, t in zip(calls, alternate(replays, seconds), strict=True)}


def variants(y, dy, dx):
    calls = {f"s{w}{'a' if a else ''}": short(y, dy, dx, w, a) for w, a in itertools.product((8, 16, 32), (False, True))}
    return calls | {f"w{b}/{w}": walked(y, dy, dx, b, w) for b, w in ((1024, 4), (1024, 8), (2048, 4), (2048, 8), (4096, 8))}


MIB = 2**20
for d1, d2 in ((0, 0), (512, 1024), (2048, 4096), (65536, 131072), (MIB, MIB // 2), (80 * MIB, 40 * MIB)):
    y, dy, dx = placed(0), placed(256 * MIB + d1), placed(512 * MIB + d2)
    y.copy_(torch.softmax(torch.randn(R, C, device="cuda"), -1))
    dy.copy_(torch.randn(R, C, device="cuda"))
    print("arena", d1, d2, times(variants(y, dy, dx)), flush=True)
ARENA = torch.zeros(1, device="cuda")
for turn in range(4):
    keep = [torch.empty(R, C, device="cuda", dtype=torch.bfloat16) for _ in range(turn)]
    y = torch.softmax(torch.randn(R, C, device="cuda"), -1).bfloat16()
    dy, dx = torch.randn(R, C, device="cuda").bfloat16(), torch.empty(R, C, device="cuda", dtype=torch.bfloat16)
    where = [hex(t.data_ptr()) for t in (y, dy, dx)]
    print("own", where, times(variants(y, dy, dx)), flush=True)

x, w, b = (torch.randn(s, device="cuda").bfloat16() for s in ((262144, 128), (128,), (128,)))
out, plain = torch.empty_like(x), torch.compile(lambda: torch.nn.functional.layer_norm(x, (128,), w, b), dynamic=False)
calls = {"compile": plain}
for rows, warps in itertools.product((4, 8, 16, 32), (1, 2, 4)):
    meta = {"CENTERED": True, "ROWS": rows, "BLOCK": 128, "FULL": True, "VECTOR": 8, "num_warps": warps}
    grid = (262144 // rows,)
    calls[f"r{rows}w{warps}"] = lambda g=grid, m=meta: norm_kernel[g](x, w, b, out, None, None, 16, 16, 262144, 16, 1e-5, **m)
print("norm 262144x128", times(calls, 0.3))
