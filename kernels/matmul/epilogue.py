"""What every kernel for a matrix product does around its loop: which tile comes next, and what happens to a finished one.

    c = act(scale_a * scale_b * sum_k a[k] b[k] + bias)

The sum is in float32 and stays on chip until it is finished, so bias and activation cost no pass through memory.
"""

from collections.abc import Callable
from math import gcd
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from kernels.activations.activation import activated


class Epilogue(NamedTuple):
    """What happens to the sums of a product: scales, a bias, an activation; `z` takes what the activation is given."""

    z: torch.Tensor | None = None
    bias: torch.Tensor | None = None
    scale_a: torch.Tensor | None = None
    scale_b: torch.Tensor | None = None
    row_scales: bool = False
    activation: str | None = None

    @property
    def constants(self) -> dict[str, bool | str | None]:
        return {"ROW_SCALES": self.row_scales, "ACTIVATION": self.activation}


# Launches the kernel of a plan for a, b, c and what finishes them.
Launch = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, Epilogue], None]


def descriptor_factory(descriptor: Any) -> Callable[[torch.Tensor], Any]:
    """What makes such descriptors of other matrices of the same shape, strides and alignment, or of their transposes.

    What is asked of a descriptor was asked of the first. To ask it at every call takes the host longer than the launch's own
    choice of a kernel. The first matrix is not kept.
    """
    kind, kept = type(descriptor), {name: value for name, value in vars(descriptor).items() if name != "base"}

    def describe(matrix: torch.Tensor) -> Any:
        made = object.__new__(kind)
        made.__dict__.update(kept, base=matrix)
        return made

    return describe


def known_step(*sizes: int) -> int:
    """The largest power of two up to 16 that divides all of them: what a kernel is told of them with `matmul_known`."""
    return gcd(16, *sizes)


@triton.jit
def matmul_known(size, STEP: tl.constexpr):
    """The size, which is a multiple of STEP, written so that the compiler sees it is one.

    By itself it asks of an argument only whether 16 divides it. Where it does not, every row may begin anywhere, and the
    numbers of a row are loaded and stored one by one: at 1476 columns of two bytes, where four at a time would be right.
    """
    if STEP == 1:
        return size
    return size // STEP * STEP


# --8<-- [start:tile]
@triton.jit
def matmul_tile(tile, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Row and column of a tile. Neighbors in time share GROUP_M rows of tiles, so that the L2 cache keeps what they load."""
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = tile // (GROUP_M * n_columns)
    first = group * GROUP_M
    height = tl.minimum(n_rows - first, GROUP_M)
    inside = tile - group * (GROUP_M * n_columns)
    return first + inside % height, inside // height
# --8<-- [end:tile]


# --8<-- [start:finish]
@triton.jit
def matmul_activated(z, ACTIVATION: tl.constexpr):
    """act(z) in float32."""
    if ACTIVATION == "relu":
        return tl.where(z < 0, 0.0, z)  # NaN stays NaN
    if ACTIVATION == "gelu":
        return activated(z, "none")
    if ACTIVATION == "gelu_tanh":
        return activated(z, "tanh")
    if ACTIVATION == "silu":
        return activated(z, "silu")
    return z


@triton.jit
def matmul_finished(total, bias_ptr, scale_a_ptr, scale_b_ptr, rows, columns, M, N, ROW_SCALES: tl.constexpr):
    """A tile's sums, scaled and with the bias: act is all that is missing."""
    if scale_a_ptr is not None:
        if ROW_SCALES:
            scale_a = tl.load(scale_a_ptr + rows, mask=rows < M, other=0.0)  # [BLOCK_M]
            scale_b = tl.load(scale_b_ptr + columns, mask=columns < N, other=0.0)  # [BLOCK_N]
            total *= scale_a[:, None]
            total *= scale_b[None, :]
        else:
            total *= tl.load(scale_a_ptr) * tl.load(scale_b_ptr)
    if bias_ptr is not None:
        bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)  # [BLOCK_N]
        total += bias[None, :]
    return total
# --8<-- [end:finish]
