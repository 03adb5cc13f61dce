"""Softmax along one dimension: every row becomes positive numbers that sum to one.

    y[i] = exp(x[i] - m) / sum_j exp(x[j] - m),    m = max_j x[j]

Subtracting the row's maximum changes nothing in exact arithmetic and keeps exp from overflowing. For n elements of e bytes the
forward pass reads ne bytes and writes ne; the backward pass reads 2ne and writes ne. Both do about 5 floating-point operations an
element, so the memory sets the time.

The kernels here keep one whole row on chip. `softmax_short` has short rows, several to a program, and those of odd lengths;
`softmax_long` walks rows too long to keep; `softmax_split` deals out few of them to many programs. `softmax_route` chooses.
"""

import torch
import triton
import triton.language as tl

from kernels.common.arguments import check_dim, check_float_tensor, on_device_of
from kernels.common.sizes import next_power_of_2
from kernels.softmax.long import softmax_long, softmax_long_backward
from kernels.softmax.rows import restore_shape, rows_of
from kernels.softmax.short import softmax_short, softmax_short_backward
from kernels.softmax.split import softmax_split, softmax_split_backward


# --8<-- [start:kernel]
@triton.jit
def softmax_kernel(x_ptr, y_ptr, x_row_stride, y_row_stride, n_columns, BLOCK: tl.constexpr):
    # This program owns one row.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    x = tl.load(x_ptr + row * x_row_stride + columns, mask=mask, other=-float("inf"))
    x = x.to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))  # [BLOCK]
    y = numerator / tl.sum(numerator, axis=0)  # [BLOCK]
    tl.store(y_ptr + row * y_row_stride + columns, y, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:backward_kernel]
@triton.jit
def softmax_backward_kernel(y_ptr, dy_ptr, dx_ptr, y_row_stride, dy_row_stride, dx_row_stride, n_columns, BLOCK: tl.constexpr):
    # This program owns one row.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    dy_ptrs = dy_ptr + row * dy_row_stride + columns  # [BLOCK]
    y = tl.load(y_ptr + row * y_row_stride + columns, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptrs, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
    dot = tl.sum(y * dy, axis=0)
    # A second load, from a cache, costs less than the registers to keep the first.
    dy = tl.load(dy_ptrs, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    tl.store(dx_ptr + row * dx_row_stride + columns, y * (dy - dot), mask=mask)
# --8<-- [end:backward_kernel]


# --8<-- [start:launch]
def softmax_row(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = x.shape
    block = next_power_of_2(n_columns)
    num_warps = 2 if block <= 1024 else 4 if block <= 4096 else 16 if block <= 8192 else 32
    softmax_kernel[(n_rows,)](x, y, x.stride(0), y.stride(0), n_columns, BLOCK=block, num_warps=num_warps)
    return y
# --8<-- [end:launch]


def softmax_row_backward(y: torch.Tensor, dy: torch.Tensor, dx: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = y.shape
    block = next_power_of_2(n_columns)
    num_warps = 2 if block <= 512 else 4 if block <= 1024 else 8 if block <= 2048 else 16 if block <= 8192 else 32
    strides = (y.stride(0), dy.stride(0), dx.stride(0))
    softmax_backward_kernel[(n_rows,)](y, dy, dx, *strides, n_columns, BLOCK=block, num_warps=num_warps)
    return dx


def softmax_route(n_columns: int, dtype: torch.dtype, backward: bool = False, n_rows: int = 2**20) -> str:
    """Say in a word which kernel serves rows of this length and dtype: `short`, `full`, `odd`, `row`, `long` or `split`.

    `full` and `odd` are `short` with one row a program: the one without a mask, for rows that fill their block, the other for
    rows whose length 16 does not divide. `long` needs no mask either where blocks fill a row. How many rows there are matters to
    long ones only. The limits are where one kernel overtook another when all were timed on one GPU, an H200.

    Example:
        ```python
        import torch
        from kernels.softmax.softmax import softmax_route

        print(softmax_route(4096, torch.bfloat16), softmax_route(2**20, torch.bfloat16, n_rows=8))
        #> full split
        ```
    """
    if n_columns <= (256 if backward else 512):
        return "short"
    if n_columns % 16 and n_columns <= (32768 if backward else 16384):
        # Backward, long rows of which less than sixteen bytes may be loaded at a time need more registers than there are.
        if backward and n_columns % (16 // dtype.itemsize) and n_columns > 4096 * dtype.itemsize:
            return "long" if n_columns <= 16384 else "row"
        return "odd"
    if n_columns in (512, 1024, 2048, 4096):
        return "full"
    if backward and n_columns == 8192:
        return "long"
    if n_columns <= (32768 if backward or dtype == torch.float32 else 16384):
        return "row"
    return "split" if n_rows <= 64 else "long"


FORWARD = {
    "short": softmax_short,
    "full": softmax_short,
    "odd": softmax_short,
    "row": softmax_row,
    "long": softmax_long,
    "split": softmax_split,
}
BACKWARD = {
    "short": softmax_short_backward,
    "full": softmax_short_backward,
    "odd": softmax_short_backward,
    "row": softmax_row_backward,
    "long": softmax_long_backward,
    "split": softmax_split_backward,
}


def softmax_forward(x: torch.Tensor, dim: int) -> torch.Tensor:
    if x.ndim == 0:
        return softmax_forward(x[None], 0)[0]
    if x.numel() == 0:
        return torch.empty_like(x)
    rows = rows_of(x, dim)
    y = torch.empty_like(rows, memory_format=torch.contiguous_format)
    with on_device_of(x):
        FORWARD[softmax_route(rows.shape[1], x.dtype, False, rows.shape[0])](rows, y)
    return restore_shape(y, x, dim)


def softmax_backward(y: torch.Tensor, dy: torch.Tensor, dim: int) -> torch.Tensor:
    if y.ndim == 0:
        return softmax_backward(y[None], dy[None], 0)[0]
    if y.numel() == 0:
        return torch.empty_like(y)
    y_rows, dy_rows = rows_of(y, dim), rows_of(dy, dim)
    dx = torch.empty_like(y_rows, memory_format=torch.contiguous_format)
    with on_device_of(y):
        BACKWARD[softmax_route(y_rows.shape[1], y.dtype, True, y_rows.shape[0])](y_rows, dy_rows, dx)
    return restore_shape(dx, y, dim)


# --8<-- [start:function]
class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        y = softmax_forward(x, dim)
        ctx.dim = dim
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        if torch.is_grad_enabled():
            # Somebody differentiates this gradient in turn: PyTorch's own operations know how.
            return y * (dy - (y * dy).sum(ctx.dim, keepdim=True)), None
        return softmax_backward(y, dy, ctx.dim), None
# --8<-- [end:function]


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Turn every row of `x` along `dim` into positive numbers that sum to one, as `torch.softmax` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([[0.0, 1.0, 2.0], [5.0, 5.0, float("-inf")]], device=device)
        for row in kernels.softmax(x).cpu():
            print(row)
            #> tensor([0.0900, 0.2447, 0.6652])
            #> tensor([0.5000, 0.5000, 0.0000])
        ```

    Args:
        x: A tensor of any shape and strides; float32, float16 or bfloat16. Rows may have any length.
        dim: The dimension that sums to one, from `-x.ndim` to `x.ndim - 1`.

    Returns:
        A tensor of the shape and dtype of `x`. The arithmetic is in float32 and rounded once. NaN, and rows that
            hold +inf or nothing but -inf, give NaN along the row, as in PyTorch. Along another `dim` than the last, the
            elements of a row lie side by side in the result, so it is not contiguous: use `.reshape` after it, not `.view`.

    Raises:
        TypeError: `x` is not a tensor or has another dtype (an integer tensor, for example), or `dim` is not an int.
        ValueError: `dim` is out of range, or a CPU tensor came while Triton's interpreter is off.

    Differentiable, any number of times: the first gradient is a kernel, gradients of gradients are PyTorch operations.

    Bytes:
        For n elements of e bytes, ne read and ne written forward; 2ne read and ne written backward. Rows whose
        elements do not lie side by side (a `dim` other than the last) are copied together first. Rows beyond the
        on-chip limit are read twice, the second time from the L2 cache where they still lie there.

    Flops:
        About 5 for each element forward, 4 backward.

    Source:
        M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", 2018 (arXiv:1805.02867),
        for the long rows; the others are the definition.
    """
    check_float_tensor("x", x)
    dim = check_dim("dim", dim, x)
    if torch.is_grad_enabled() and x.requires_grad:
        return Softmax.apply(x, dim)
    return softmax_forward(x, dim)


# --8<-- [start:reference]
def softmax_reference(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The same operation in plain PyTorch, in five kernels."""
    x = x - x.amax(dim, keepdim=True)
    numerator = x.exp()
    return numerator / numerator.sum(dim, keepdim=True)
# --8<-- [end:reference]
