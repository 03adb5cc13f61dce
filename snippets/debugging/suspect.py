"""A kernel with a mistake, its launch, and the same in PyTorch."""
# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def scale_rows_kernel(x_ptr, weight_ptr, y_ptr, n_columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0)
    mean = tl.sum(x * x, axis=0) / BLOCK
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0)
    y = x * tl.rsqrt(mean + eps) * weight
    tl.store(y_ptr + row * n_columns + columns, y, mask=mask)


def scale_rows(x, weight, eps=1e-6):
    y = torch.full_like(x, float("nan"))
    block = triton.next_power_of_2(x.shape[1])
    scale_rows_kernel[(x.shape[0],)](x, weight, y, x.shape[1], eps, BLOCK=block)
    return y
# --8<-- [end:kernel]


# --8<-- [start:reference]
def scale_rows_reference(x, weight, eps=1e-6):
    mean = (x * x).mean(dim=1, keepdim=True)
    return x * torch.rsqrt(mean + eps) * weight
# --8<-- [end:reference]
