"""What the questions of the lesson ask, compiled or worked out: each line is the answer to one."""
import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


@triton.jit
def scale_floats(x_ptr, out_ptr, factor, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, factor * tl.load(x_ptr + lanes))


x = torch.empty(2**20)
compiled = compile_only(scale_floats, x, x, 2.0, BLOCK=1024)
print(f"shared: {compiled.metadata.shared}")


def bytes_of_addition(n, block):
    """What all programs load and store together, of three vectors in float32."""
    sizes = [min(block, n - start) for start in range(0, n, block)]
    return sum(3 * 4 * size for size in sizes)


print(f"blocks: {bytes_of_addition(2**20, 4096) / bytes_of_addition(2**20, 256):.2f}")

column = x.view(1024, 1024)[:, 0]
sectors = {4 * row * column.stride(0) // 32 for row in range(1024)}
print(f"column: {32 * len(sectors) // column.numel()}")
