"""Gated units: an activation of one tensor times another, forward and backward in one kernel each.

    y[i] = f(gate[i]) up[i],    dgate[i] = dy[i] up[i] f'(gate[i]),    dup[i] = dy[i] f(gate[i])

where f is SiLU (`kernels.swiglu`) or GELU (`kernels.geglu`). For n elements of e bytes the forward pass reads 2ne bytes
and writes ne; the backward pass reads 3ne and writes 2ne. `gate` and `up` may be the halves of one matrix: a row stride is
passed for each, and a tensor without gaps counts as one long row.

Source: N. Shazeer, "GLU variants improve transformer", arXiv:2002.05202.
"""

import torch
import triton
import triton.language as tl

from kernels.activations.activation import activated, activated_with_slope
from kernels.common.arguments import on_device_of
from kernels.common.partial_tiles import load_partial_tile, store_partial_tile


# --8<-- [start:kernel]
@triton.jit
def gated_unit_kernel(
    gate_ptr,
    up_ptr,
    y_ptr,
    gate_row_stride,
    up_row_stride,
    y_row_stride,
    n_columns,
    KIND: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # This program owns BLOCK neighboring elements of one row, or fewer at its end.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    row = tl.program_id(1).to(tl.int64)
    columns = start + tl.arange(0, BLOCK)  # [BLOCK]
    whole = start + BLOCK <= n_columns
    gate = load_partial_tile(gate_ptr + row * gate_row_stride, columns, n_columns, whole)
    up = load_partial_tile(up_ptr + row * up_row_stride, columns, n_columns, whole)  # [BLOCK]
    y = activated(gate, KIND) * up  # [BLOCK]
    store_partial_tile(y_ptr + row * y_row_stride, columns, n_columns, whole, y)
# --8<-- [end:kernel]


@triton.jit
def gated_unit_backward_kernel(
    gate_ptr,
    up_ptr,
    dy_ptr,
    dgate_ptr,
    dup_ptr,
    gate_row_stride,
    up_row_stride,
    y_row_stride,
    n_columns,
    KIND: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # This program owns BLOCK neighboring elements of one row, or fewer at its end.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    row = tl.program_id(1).to(tl.int64)
    columns = start + tl.arange(0, BLOCK)  # [BLOCK]
    whole = start + BLOCK <= n_columns
    gate = load_partial_tile(gate_ptr + row * gate_row_stride, columns, n_columns, whole)
    up = load_partial_tile(up_ptr + row * up_row_stride, columns, n_columns, whole)  # [BLOCK]
    dy = load_partial_tile(dy_ptr + row * y_row_stride, columns, n_columns, whole)  # [BLOCK]
    value, slope = activated_with_slope(gate, KIND)
    store_partial_tile(dgate_ptr + row * y_row_stride, columns, n_columns, whole, dy * up * slope)
    store_partial_tile(dup_ptr + row * y_row_stride, columns, n_columns, whole, dy * value)


def gated_unit_shape(gate: torch.Tensor, up: torch.Tensor) -> tuple[int, int, int, int, int]:
    """Rows, columns, and the row strides of `gate`, of `up` and of a result; without gaps it is one long row."""
    if gate.is_contiguous() and up.is_contiguous():
        # Strides of zero, because 16 divides zero: the row's start is known to be as aligned as the tensor's.
        return 1, gate.numel(), 0, 0, 0
    n_rows, n_columns = gate.shape
    return n_rows, n_columns, gate.stride(0), up.stride(0), n_columns


def gated_unit_launch(gate: torch.Tensor, up: torch.Tensor, y: torch.Tensor, kind: str = "silu") -> torch.Tensor:
    n_rows, n_columns, gate_stride, up_stride, y_stride = gated_unit_shape(gate, up)
    grid = ((n_columns + 1023) // 1024, n_rows)
    gated_unit_kernel[grid](gate, up, y, gate_stride, up_stride, y_stride, n_columns, KIND=kind, BLOCK=1024, num_warps=4)
    return y


def gated_unit_backward_launch(
    gate: torch.Tensor, up: torch.Tensor, dy: torch.Tensor, dgate: torch.Tensor, dup: torch.Tensor, kind: str = "silu"
) -> None:
    n_rows, n_columns, *strides = gated_unit_shape(gate, up)
    grid = ((n_columns + 1023) // 1024, n_rows)
    gated_unit_backward_kernel[grid](gate, up, dy, dgate, dup, *strides, n_columns, KIND=kind, BLOCK=1024, num_warps=4)


def gated_unit_rows(gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both without gaps, or as matrices whose rows have none; copied where the strides leave no other way."""
    if gate.is_neg() or up.is_neg():
        gate, up = gate.resolve_neg(), up.resolve_neg()
    if gate.is_contiguous() and up.is_contiguous():
        return gate, up
    if gate.ndim > 0:
        gate, up = gate.reshape(-1, gate.shape[-1]), up.reshape(-1, up.shape[-1])
        # A grid has at most 65,535 programs along its second axis.
        if gate.shape[0] < 65536 and gate.stride(1) == up.stride(1) == 1:
            return gate, up
    return gate.contiguous(), up.contiguous()


def gated_unit_forward(gate: torch.Tensor, up: torch.Tensor, kind: str) -> torch.Tensor:
    y = torch.empty_like(gate, memory_format=torch.contiguous_format)
    if y.numel() == 0:
        return y
    with on_device_of(gate):
        return gated_unit_launch(*gated_unit_rows(gate, up), y, kind)


def gated_unit_backward(
    gate: torch.Tensor, up: torch.Tensor, dy: torch.Tensor, kind: str
) -> tuple[torch.Tensor, torch.Tensor]:
    dgate = torch.empty_like(gate, memory_format=torch.contiguous_format)
    dup = torch.empty_like(dgate)
    if dy.numel() > 0:
        with on_device_of(gate):
            dy = dy.resolve_neg().contiguous()
            gated_unit_backward_launch(*gated_unit_rows(gate, up), dy, dgate, dup, kind)
    return dgate, dup


class GatedUnit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate, up, kind):
        ctx.kind = kind
        ctx.save_for_backward(gate, up)
        return gated_unit_forward(gate, up, kind)

    @staticmethod
    def backward(ctx, dy):
        gate, up = ctx.saved_tensors
        if not torch.is_grad_enabled():
            return *gated_unit_backward(gate, up, dy, ctx.kind), None
        # Somebody differentiates these gradients in turn: PyTorch's own operations know how.
        g, u, d = gate.float(), up.float(), dy.float()
        if ctx.kind == "silu":
            share = torch.sigmoid(g)
            value, dgate = g * share, d * u * (share + g * share * (1 - share))
        else:
            value = torch.nn.functional.gelu(g, approximate=ctx.kind)
            dgate = torch.ops.aten.gelu_backward(d * u, g, approximate=ctx.kind)
        return dgate.to(gate.dtype), (d * value).to(up.dtype), None


def gated_unit(gate: torch.Tensor, up: torch.Tensor, kind: str) -> torch.Tensor:
    if torch.is_grad_enabled() and (gate.requires_grad or up.requires_grad):
        return GatedUnit.apply(gate, up, kind)
    return gated_unit_forward(gate, up, kind)
