"""What a transposed tile needs on the chip that a plain one does not."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import keep


@triton.jit
def move_tile_kernel(x_ptr, out_ptr, stride, BLOCK: tl.constexpr, WAY: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + rows * stride + columns)
    if WAY == "copy":
        tl.store(out_ptr + rows * stride + columns, x)
    elif WAY == "tl.trans":
        tl.store(out_ptr + rows * stride + columns, tl.trans(x))
    else:
        tl.store(out_ptr + columns * stride + rows, x)


x = torch.randn(64, 64, device="cuda")
figures = {}
for way in ("copy", "tl.trans", "swapped strides"):
    out = torch.empty_like(x)
    compiled = move_tile_kernel[(1,)](x, out, 64, BLOCK=64, WAY=way)
    assert torch.equal(out, x if way == "copy" else x.T)
    figures[way.replace(" ", "_").replace(".", "_")] = compiled.metadata.shared
    print(f"{way}: {compiled.metadata.shared:,} bytes of shared memory")
keep(figures=figures)
