"""Copy every s-th element: the same useful bytes, ever further apart."""
# needs: cuda
# counters: all
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark


# --8<-- [start:kernel]
@triton.jit
def strided_kernel(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets * stride))
# --8<-- [end:kernel]


n, strides = 2**26, (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
x = torch.randn(n * max(strides), device="cuda")
out = torch.empty(n, device="cuda")


def strided(stride):
    strided_kernel[(n // 1024,)](x, out, stride, BLOCK=1024)
    return out


if sys.argv[1:]:  # the profiler watches one launch of each, in this order
    for stride in strides:
        strided(stride)
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        strided(stride)
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
else:
    benchmark = Benchmark()
    for stride in strides:
        run = {"blockwise": lambda stride=stride: strided(stride)}
        expected = x[: n * stride : stride]
        benchmark.case("strided_copy", "fwd", f"{n}x{stride}", x.dtype, 2 * out.nbytes, None, run, expected)
    benchmark.finish()
    compiled = strided_kernel[(n // 1024,)](x, out, 2, BLOCK=1024)
    print("instructions that touch shared memory:", compiled.asm["ptx"].count(".shared"))
