"""Element-wise addition of two tensors.

    out[i] = x[i] + y[i]

For n elements of e bytes the kernel reads 2ne bytes, writes ne bytes and does n additions: one addition
for every 3e bytes, so the memory sets the time and the arithmetic is free.
"""

import torch
import triton
import triton.language as tl

from kernels.common.arguments import check_float_tensor, check_same_device, on_device_of
from kernels.common.partial_tiles import load_partial_tile, store_partial_tile


# --8<-- [start:kernel]
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    # This program owns BLOCK neighboring elements.
    pid = tl.program_id(0).to(tl.int64)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = offsets < n_elements  # [BLOCK]
    x = tl.load(x_ptr + offsets, mask=mask)  # [BLOCK]
    y = tl.load(y_ptr + offsets, mask=mask)  # [BLOCK]
    out = x.to(tl.float32) + y.to(tl.float32)  # [BLOCK]
    tl.store(out_ptr + offsets, out, mask=mask)
# --8<-- [end:kernel]


@triton.jit
def add_ragged_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    # This program owns BLOCK neighboring elements, or fewer at the end.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)  # [BLOCK]
    whole = start + BLOCK <= n_elements
    x = load_partial_tile(x_ptr, offsets, n_elements, whole)  # [BLOCK]
    y = load_partial_tile(y_ptr, offsets, n_elements, whole)  # [BLOCK]
    store_partial_tile(out_ptr, offsets, n_elements, whole, x + y)


# --8<-- [start:launch]
def add_flat(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    n_elements = out.numel()
    block = 1024
    grid = ((n_elements + block - 1) // block,)  # triton.cdiv, without its cost on the host
    # Under a mask whose limit 16 does not divide, every load would be narrow.
    kernel = add_ragged_kernel if n_elements % 16 else add_kernel
    kernel[grid](x, y, out, n_elements, BLOCK=block)
    return out
# --8<-- [end:launch]


def add_forward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    dtype = torch.result_type(x, y)
    x, y = x.resolve_neg(), y.resolve_neg()
    if x.shape != y.shape:
        x, y = torch.broadcast_tensors(x, y)
    # The kernel walks memory in order, which is right for any layout that all three tensors share.
    out = torch.empty_like(x, dtype=dtype)
    if not x.stride() == y.stride() == out.stride():
        x, y = x.contiguous(), y.contiguous()
        out = torch.empty_like(x, dtype=dtype)
    if out.numel() == 0:
        return out
    with on_device_of(out):
        return add_flat(x, y, out)


class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.inputs = (x.shape, x.dtype, y.shape, y.dtype)
        return add_forward(x, y)

    @staticmethod
    def backward(ctx, dout):
        x_shape, x_dtype, y_shape, y_dtype = ctx.inputs
        dx = dout.sum_to_size(x_shape).to(x_dtype) if ctx.needs_input_grad[0] else None
        dy = dout.sum_to_size(y_shape).to(y_dtype) if ctx.needs_input_grad[1] else None
        return dx, dy


# --8<-- [start:add]
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Add two tensors element by element, as `torch.add` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([1.0, 2.0, 3.0], device=device)
        print(kernels.add(x, 10 * x).tolist())
        #> [11.0, 22.0, 33.0]
        ```

    Args:
        x: A tensor of any shape and strides; float32, float16 or bfloat16.
        y: A tensor on the same device whose shape broadcasts with that of `x`; float32, float16 or bfloat16.

    Returns:
        A tensor of the broadcast shape. Its dtype is the one `torch.result_type` gives for the two inputs.
            The sum is computed in float32 and rounded once.

    Raises:
        TypeError: An input is not a tensor, or has another dtype.
        ValueError: The shapes do not broadcast, the devices differ, or a CPU tensor came while Triton's
            interpreter is off.

    Differentiable in both inputs.

    Bytes:
        For n elements of e bytes, 2ne read and ne written. Inputs of different strides (a broadcast among
        them) are copied first, which moves their bytes once more.

    Flops:
        n additions.

    Source:
        The kernel is the standard first example of the block model; see P. Tillet, H. T. Kung and D. Cox,
        "Triton: an intermediate language and compiler for tiled neural network computations", MAPL 2019.
    """
    check_float_tensor("x", x)
    check_float_tensor("y", y)
    check_same_device("y", y, "x", x)
    if x.shape != y.shape:
        try:
            torch.broadcast_shapes(x.shape, y.shape)
        except RuntimeError:
            raise ValueError(f"y: expected a shape that broadcasts with x's {tuple(x.shape)}, got {tuple(y.shape)}") from None
    if torch.is_grad_enabled() and (x.requires_grad or y.requires_grad):
        return Add.apply(x, y)
    return add_forward(x, y)
# --8<-- [end:add]


def add_reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The same operation in plain PyTorch."""
    return x + y
