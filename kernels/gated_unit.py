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

from kernels.activation import activated, activated_with_slope
from kernels.parts import load_part, store_part


# --8<-- [start:kernel]
@triton.jit
def gated_unit_kernel(
    gate_ptr,
    up_ptr,
    y_ptr,
    gate_row_stride,
    up_row_stride,
    n_columns,
    KIND: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # This program owns BLOCK neighboring elements of one row; only the last program of a row may have fewer.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    row = tl.program_id(1).to(tl.int64)
    columns = start + tl.arange(0, BLOCK)  # [BLOCK]
    whole = start + BLOCK <= n_columns
    gate = load_part(gate_ptr + row * gate_row_stride, columns, n_columns, whole)  # [BLOCK]
    up = load_part(up_ptr + row * up_row_stride, columns, n_columns, whole)  # [BLOCK]
    store_part(y_ptr + row * n_columns, columns, n_columns, whole, activated(gate, KIND) * up)
# --8<-- [end:kernel]


# --8<-- [start:backward_kernel]
@triton.jit
def gated_unit_backward_kernel(
    gate_ptr,
    up_ptr,
    dy_ptr,
    dgate_ptr,
    dup_ptr,
    gate_row_stride,
    up_row_stride,
    n_columns,
    KIND: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # This program owns BLOCK neighboring elements of one row; only the last program of a row may have fewer.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    row = tl.program_id(1).to(tl.int64)
    columns = start + tl.arange(0, BLOCK)  # [BLOCK]
    whole = start + BLOCK <= n_columns
    gate = load_part(gate_ptr + row * gate_row_stride, columns, n_columns, whole)  # [BLOCK]
    up = load_part(up_ptr + row * up_row_stride, columns, n_columns, whole)  # [BLOCK]
    dy = load_part(dy_ptr + row * n_columns, columns, n_columns, whole)  # [BLOCK]
    value, slope = activated_with_slope(gate, KIND)
    store_part(dgate_ptr + row * n_columns, columns, n_columns, whole, dy * up * slope)
    store_part(dup_ptr + row * n_columns, columns, n_columns, whole, dy * value)
# --8<-- [end:backward_kernel]


def gated_unit_flat(gate: torch.Tensor, up: torch.Tensor, y: torch.Tensor, kind: str) -> torch.Tensor:
    n_rows, n_columns = gate.shape
    grid = ((n_columns + 1023) // 1024, n_rows)
    strides = (gate.stride(0), up.stride(0))
    gated_unit_kernel[grid](gate, up, y, *strides, n_columns, KIND=kind, BLOCK=1024, num_warps=4)
    return y


def gated_unit_flat_backward(
    gate: torch.Tensor, up: torch.Tensor, dy: torch.Tensor, dgate: torch.Tensor, dup: torch.Tensor, kind: str
) -> None:
    n_rows, n_columns = gate.shape
    grid = ((n_columns + 1023) // 1024, n_rows)
    strides = (gate.stride(0), up.stride(0))
    meta = {"KIND": kind, "BLOCK": 1024, "num_warps": 4}
    gated_unit_backward_kernel[grid](gate, up, dy, dgate, dup, *strides, n_columns, **meta)


def gated_rows(gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """View both as matrices of equal shape whose rows have no gaps, copying where the strides leave no other way."""
    gate, up = gate.resolve_neg(), up.resolve_neg()
    if not (gate.is_contiguous() and up.is_contiguous()):
        rows = [x.reshape(-1, x.shape[-1]) if x.ndim else x for x in (gate, up)]
        # A grid has at most 65,535 programs along its second axis.
        if gate.ndim and rows[0].shape[0] < 65536 and rows[0].stride(1) == rows[1].stride(1) == 1:
            return rows[0], rows[1]
        gate, up = gate.contiguous(), up.contiguous()
    return gate.view(1, -1), up.view(1, -1)


def gated_unit_forward(gate: torch.Tensor, up: torch.Tensor, kind: str) -> torch.Tensor:
    y = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    if y.numel() == 0:
        return y
    with torch.cuda.device_of(gate):
        return gated_unit_flat(*gated_rows(gate, up), y, kind)


def gated_unit_backward(
    gate: torch.Tensor, up: torch.Tensor, dy: torch.Tensor, kind: str
) -> tuple[torch.Tensor, torch.Tensor]:
    dgate = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    dup = torch.empty_like(dgate)
    if dy.numel() > 0:
        with torch.cuda.device_of(gate):
            gated_unit_flat_backward(*gated_rows(gate, up), dy.resolve_neg().contiguous(), dgate, dup, kind)
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
