"""What atomic additions cost: sixteen million of them, into ever more numbers."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark


# --8<-- [start:kernel]
@triton.jit
def contend_kernel(
    counts_ptr, n_places,
    SCATTERED: tl.constexpr, SEM: tl.constexpr, BLOCK: tl.constexpr,
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if SCATTERED:
        i = (i * -1640531527) >> 8  # neighbors go to places far apart
    one = tl.full([BLOCK], 1, counts_ptr.dtype.element_ty)
    tl.atomic_add(counts_ptr + (i & (n_places - 1)), one, sem=SEM)
# --8<-- [end:kernel]


def contend(counts, scattered=False, sem="relaxed"):
    contend_kernel[(ADDITIONS // BLOCK,)](counts, counts.numel(), scattered, sem, BLOCK)
    return counts


ADDITIONS, BLOCK = 2**24, 1024
benchmark = Benchmark()
for power in (0, 2, 4, 6, 8, 10, 12, 16, 20, 24):
    # Checked after the first call alone; the calls that are timed go on counting.
    places = [torch.zeros(2**power, dtype=torch.int32, device="cuda") for _ in range(3)]
    floats = torch.zeros(2**power, device="cuda")
    functions = {
        "relaxed": lambda: contend(places[0]),
        "ordered": lambda: contend(places[1], sem="acq_rel"),
        "floats": lambda: contend(floats),
    }
    expected = torch.full((2**power,), float(ADDITIONS >> power))
    size = (str(2**power), torch.float32, 4 * ADDITIONS, ADDITIONS)
    benchmark.case("contend", "fwd", *size, functions, expected.cuda())
    if power >= 4:
        functions = {"scattered": lambda: contend(places[2], scattered=True)}
        expected = torch.zeros(2**power, dtype=torch.int64, device="cuda")
        i = torch.arange(ADDITIONS, device="cuda", dtype=torch.int32) * -1640531527 >> 8
        expected.index_add_(0, i & (2**power - 1), torch.ones_like(i, dtype=torch.int64))
        benchmark.case("contend_scattered", "fwd", *size, functions, expected)
benchmark.finish()
