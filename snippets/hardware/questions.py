"""What the questions of the lesson ask, compiled or worked out: each line is the answer to one."""
import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


@triton.jit
def scale_block(x_ptr, out_ptr, factor, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, factor * tl.load(x_ptr + lanes))


def least(moved, operations, copy_rate=2e12, arithmetic_rate=400e12):
    """The least time, in seconds."""
    return max(moved / copy_rate, operations / arithmetic_rate)


x = torch.empty(1024)
compiled = compile_only(scale_block, x, x, 2.0, BLOCK=64)
print(f"threads: {32 * compiled.metadata.num_warps}")

multiprocessors = 132
print(f"rounds: {triton.cdiv(multiprocessors + 1, multiprocessors)}")

softmax = {"moved": 2 * 16384 * 4096 * 2, "operations": 5 * 16384 * 4096}
print(f"faster_chip: {least(**softmax) / least(**softmax, arithmetic_rate=800e12):.1f}")
