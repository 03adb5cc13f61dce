"""The exercise's solution: count the passes of a chain, predict the gain of fusing it and, on a GPU, measure it."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark


from torch.utils._python_dispatch import TorchDispatchMode


# --8<-- [start:wave]
def wave(x):
    return x * torch.exp(-torch.abs(x))
# --8<-- [end:wave]


class CountPasses(TorchDispatchMode):
    """Note how many tensors each operation reads and writes."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        read = sum(isinstance(argument, torch.Tensor) for argument in args)
        self.seen.append((operation.overloadpacket.__name__, read, 1))
        return operation(*args, **(kwargs or {}))


x = torch.empty(1000, device="meta")
with CountPasses() as passes:
    wave(x)
for name, read, written in passes.seen:
    print(f"{name} reads {read}, writes {written}")
    #> abs reads 1, writes 1
    #> neg reads 1, writes 1
    #> exp reads 1, writes 1
    #> mul reads 2, writes 1
eager = sum(read + written for _, read, written in passes.seen)
print(f"{eager} passes against 2: {eager / 2} times fewer")
#> 9 passes against 2: 4.5 times fewer


# --8<-- [start:kernel]
@triton.jit
def wave_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = x * tl.exp(-tl.abs(x))
    tl.store(y_ptr + offsets, y, mask=mask)


def fused_wave(x):
    y = torch.empty_like(x)
    wave_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(3000, device=device)
torch.testing.assert_close(fused_wave(x), wave(x))
print("the kernel agrees with PyTorch")
#> the kernel agrees with PyTorch
# --8<-- [end:kernel]

if device == "cuda":
    benchmark = Benchmark()
    x = torch.randn(2**27, device="cuda").bfloat16()
    compiled = torch.compile(wave, dynamic=False)
    ways = {"eager": lambda: wave(x), "compile": lambda: compiled(x), "blockwise": lambda: fused_wave(x)}
    benchmark.case("wave", "fwd", str(x.numel()), x.dtype, 2 * x.nbytes, None, ways, wave(x.double()))
    benchmark.finish()
