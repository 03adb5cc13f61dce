"""One grid in two orders: a map that eight images share is read eight times, or once."""
# needs: cuda
# counters: slow mended
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch
import triton
import triton.language as tl

from kernels.tools.benchmark import keep
from snippets.profiling.beside import beside


# --8<-- [start:kernel]
@triton.jit
def weigh_images_kernel(x_ptr, map_ptr, y_ptr, n, IMAGES: tl.constexpr, NEAR: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if NEAR:  # neighboring programs: the same part of the map, another image
        image, part = pid % IMAGES, pid // IMAGES
    else:  # neighboring programs: the same image, another part of the map
        image, part = pid // (n // BLOCK), pid % (n // BLOCK)
    offsets = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + image * n + offsets)
    tl.store(y_ptr + image * n + offsets, x * tl.load(map_ptr + offsets))
# --8<-- [end:kernel]


# --8<-- [start:ways]
images, n = 8, 2**24
x = torch.randn(images, n, device="cuda").to(torch.bfloat16)
weights = torch.randn(n, device="cuda")  # 64 MiB, more than the L2 cache keeps
y = torch.empty_like(x)


def weighed(near):
    weigh_images_kernel[(images * n // 1024,)](x, weights, y, n, IMAGES=images, NEAR=near, BLOCK=1024)
    return y


ways = {"slow": lambda: weighed(False), "mended": lambda: weighed(True)}
# --8<-- [end:ways]
keep(figures=beside(ways, x * weights, 2 * x.nbytes + weights.nbytes, tolerance=1e-2))
