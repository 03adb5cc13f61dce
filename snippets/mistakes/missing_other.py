"""A mask and no `other`: what the masked lanes hold enters the maximum and the sum of a softmax."""
# sanitizer: memcheck
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:missing_other]
from kernels.softmax.softmax import softmax_kernel


@triton.jit
def softmax_wrong_kernel(
    x_ptr, y_ptr, x_row_stride, y_row_stride, n_columns,
    BLOCK: tl.constexpr,
):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    row = x_ptr + tl.program_id(0) * x_row_stride
    x = tl.load(row + columns, mask=mask)  # the mistake
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + tl.program_id(0) * y_row_stride + columns, y, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
for n_columns, x in ((128, -3.0), (100, -3.0), (100, 9.0)):
    x = torch.full((1, n_columns), x, device=device)
    for kernel in (softmax_wrong_kernel, softmax_kernel):
        y = torch.full_like(x, float("nan"))
        kernel[(1,)](x, y, n_columns, n_columns, n_columns, BLOCK=128)
        print(f"{n_columns} of {x[0, 0]:2.0f}, {kernel.__name__}: sum {y.sum():.3f}")
        #> 128 of -3, softmax_wrong_kernel: sum 1.000
        #> 128 of -3, softmax_kernel: sum 1.000
        #> 100 of -3, softmax_wrong_kernel: sum 0.151
        #> 100 of -3, softmax_kernel: sum 1.000
        #> 100 of  9, softmax_wrong_kernel: sum 1.000
        #> 100 of  9, softmax_kernel: sum 1.000
# --8<-- [end:missing_other]
