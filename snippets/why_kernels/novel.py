"""A norm that no library has: like RMSNorm, but values beyond twice the scale count as twice the scale."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch.nn.functional as F
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark


# --8<-- [start:reference]
def clipped_norm_reference(x):
    square = x.float().square()
    scale = square.mean(-1, keepdim=True)
    for _ in range(8):
        scale = torch.minimum(square, 4 * scale).mean(-1, keepdim=True)
    return (x * torch.rsqrt(scale + 1e-6)).to(x.dtype)
# --8<-- [end:reference]


# --8<-- [start:kernel]
@triton.jit
def clipped_norm_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    square = x * x
    scale = tl.sum(square, axis=0) / n_columns
    for _ in range(8):
        scale = tl.sum(tl.minimum(square, 4 * scale), axis=0) / n_columns
    y = x * tl.rsqrt(scale + 1e-6)
    tl.store(y_ptr + row * n_columns + columns, y, mask=mask)


def clipped_norm(x):
    y = torch.empty_like(x)
    rows, n_columns = x.shape
    clipped_norm_kernel[(rows,)](
        x, y, n_columns, BLOCK=triton.next_power_of_2(n_columns)
    )
    return y
# --8<-- [end:kernel]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(20, 1000, device=device)
torch.testing.assert_close(clipped_norm(x), clipped_norm_reference(x))

x = torch.ones(1, 256, device=device)
x[0, 0] = 1000.0  # an outlier
print(
    f"RMSNorm: {F.rms_norm(x, (256,))[0, 1]:.2f}, clipped: {clipped_norm(x)[0, 1]:.2f}"
)
#> RMSNorm: 0.02, clipped: 0.99
# --8<-- [end:check]

if device == "cuda":
    benchmark = Benchmark()
    for rows, columns in ((32768, 1024), (32768, 4096), (8192, 16384)):
        torch.compiler.reset()
        x = torch.randn(rows, columns, device="cuda").bfloat16()
        compiled = torch.compile(clipped_norm_reference, dynamic=False)
        ways = {
            "eager": lambda: clipped_norm_reference(x),
            "compile": lambda: compiled(x),
            "blockwise": lambda: clipped_norm(x),
        }
        shape, right = f"{rows}x{columns}", clipped_norm_reference(x.double())
        benchmark.case("clipped_norm", "fwd", shape, x.dtype, 2 * x.nbytes, None, ways, right)
    benchmark.finish()
