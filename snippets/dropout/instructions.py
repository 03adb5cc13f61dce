"""What a random number costs: the instructions of three kernels that differ in how they draw."""
# needs: cuda
# --8<-- [start:imports]
import re
import sys

import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
# --8<-- [start:instructions]
from kernels.dropout.philox import philox_bits


@triton.jit
def drawing_kernel(
    x_ptr, y_ptr, p, threshold, seed, WAY: tl.constexpr, BLOCK: tl.constexpr
):
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)  # [BLOCK]
    x = tl.load(x_ptr + offsets).to(tl.float32)
    if WAY == "one number an element":
        kept = tl.rand(seed, offsets) >= p
    elif WAY == "four numbers a draw":
        draws = start // 4 + tl.arange(0, BLOCK // 4)
        a, b, c, d = tl.randint4x(seed, draws)
        bits = tl.join(tl.join(a, c), tl.join(b, d)).reshape(BLOCK)
        kept = bits.to(tl.int32, bitcast=True) >= threshold
    else:
        kept = philox_bits(seed.to(tl.uint64), start, BLOCK, 4) >= threshold
    tl.store(y_ptr + offsets, x * tl.where(kept, 2.0, 0.0))


x = torch.randn(2**20, device="cuda")
y = torch.empty_like(x)
counts = {}
print("an element:            instructions  multiplications")
for way in ("one number an element", "four numbers a draw", "the library's"):
    kernel = drawing_kernel[(1024,)](x, y, 0.5, 0, 2**40, WAY=way, BLOCK=1024)
    line = re.compile(r"^[^;]*?\t(?:@!?U?P\d+ )?([A-Z][A-Z0-9_.]+)", re.MULTILINE)
    names = line.findall(kernel.asm["sass"])
    product = re.compile(r"IMAD(\.HI|\.WIDE)?(\.U32)?")
    products = [name for name in names if product.fullmatch(name)]
    each = 1024 / 128  # elements of a thread
    counts[way] = (len(names) - names.count("NOP")) / each
    print(f"{way:22}{counts[way]:13.1f}{len(products) / each:17.1f}")
# --8<-- [end:instructions]
keep(figures=dict(zip(("one", "four", "library"), counts.values(), strict=True)))
