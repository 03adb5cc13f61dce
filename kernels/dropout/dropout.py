"""Dropout: each element is zeroed with probability p, and the others are scaled up so that the mean stays.

    y[i] = x[i] / (1 - p) if kept[i] else 0,    and + residual[i] where there is one

Whether an element is kept depends on the seed and on where it stands, so nothing is remembered for the backward pass,
which is the same kernel on the gradient: dx = dropout(dy) with the same seed. For n elements of e bytes either pass
reads ne bytes and writes ne, and a residual is ne more to read.

Source: N. Srivastava, G. Hinton, A. Krizhevsky, I. Sutskever and R. Salakhutdinov, "Dropout: a simple way to prevent
neural networks from overfitting", JMLR 15, 2014; the random bits are those of `kernels.dropout.philox`.
"""

import torch
import triton
import triton.language as tl

from kernels.common.arguments import check_float_tensor, check_like, check_probability, check_seed, on_device_of
from kernels.common.partial_tiles import load_partial_tile, store_partial_tile
from kernels.dropout.philox import philox_bits, philox_reference


# --8<-- [start:kernel]
@triton.jit(do_not_specialize=["threshold", "seed"])
def dropout_kernel(
    x_ptr,
    residual_ptr,
    y_ptr,
    n_elements,
    threshold,
    scale,
    seed,
    RESIDUAL: tl.constexpr,
    BLOCK: tl.constexpr,
    VECTOR: tl.constexpr,
    EVEN: tl.constexpr,
):
    # This program owns BLOCK neighboring elements, or fewer at the end.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)  # [BLOCK]
    whole = EVEN or start + BLOCK <= n_elements
    y = load_partial_tile(x_ptr, offsets, n_elements, whole)  # [BLOCK]
    kept = philox_bits(seed.to(tl.uint64), start, BLOCK, VECTOR) >= threshold  # [BLOCK]
    y *= tl.where(kept, scale, 0.0)
    if RESIDUAL:
        y += load_partial_tile(residual_ptr, offsets, n_elements, whole)
    store_partial_tile(y_ptr, offsets, n_elements, whole, y)
# --8<-- [end:kernel]


def dropout_flat(x: torch.Tensor, residual: torch.Tensor | None, y: torch.Tensor, p: float = 0.5, seed: int = 0) -> torch.Tensor:
    n_elements = x.numel()
    # An element is kept where its 32 random bits, a signed number, are at least the threshold.
    threshold = min(round(p * 2**32), 2**32 - 1) - 2**31
    scale = 1 / (1 - p) if p < 1 else 0.0
    vector, num_warps = (4, 4) if x.element_size() == 4 else (8, 2)
    grid = ((n_elements + 1023) // 1024,)
    added, full = residual is not None, n_elements % 1024 == 0
    arguments = (x, residual, y, n_elements, threshold, scale, seed)
    dropout_kernel[grid](*arguments, RESIDUAL=added, BLOCK=1024, VECTOR=vector, EVEN=full, num_warps=num_warps)
    return y


def without_gaps(x: torch.Tensor) -> torch.Tensor:
    return x if x.is_contiguous() and not x.is_neg() else x.resolve_neg().contiguous()


def dropout_forward(x: torch.Tensor, p: float, seed: int, residual: torch.Tensor | None) -> torch.Tensor:
    # Elements are counted in the order of the indices, so that the mask does not depend on strides.
    x = without_gaps(x)
    residual = None if residual is None else without_gaps(residual)
    y = torch.empty_like(x)
    if x.numel() == 0:
        return y
    with on_device_of(x):
        return dropout_flat(x, residual, y, p, seed)


class Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed, residual):
        ctx.p, ctx.seed = p, seed
        return dropout_forward(x, p, seed, residual)

    @staticmethod
    def backward(ctx, dy):
        # Linear in x: the gradient is the same operation, and differentiable like it.
        dx = dropout(dy, ctx.p, ctx.seed) if ctx.needs_input_grad[0] else None
        return dx, None, None, dy if ctx.needs_input_grad[3] else None


def dropout(
    x: torch.Tensor, p: float = 0.5, seed: int | None = None, residual: torch.Tensor | None = None
) -> torch.Tensor:
    """Zero each element of `x` with probability `p`, scale the others by 1 / (1 - p), and add `residual` if there is one.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.ones(8, device=device)
        print(kernels.dropout(x, 0.5, seed=7).tolist())
        #> [0.0, 0.0, 2.0, 2.0, 2.0, 0.0, 2.0, 0.0]
        print(kernels.dropout(x, 0.5, seed=7, residual=x).tolist())  # an equal seed drops the same
        #> [1.0, 1.0, 3.0, 3.0, 3.0, 1.0, 3.0, 1.0]
        ```

    Args:
        x: A tensor of any shape and strides; float32, float16 or bfloat16.
        p: The probability of zero, from 0 to 1, both of which are exact; others are rounded to a multiple of 2^-32.
        seed: From 0 to 2^64 - 1. Equal seeds drop equal elements: the mask depends on `p`, the seed, and an element's
            place in the order of the indices (that of `x.flatten()`), and on nothing else, not on strides, dtype or
            device. None draws a seed from PyTorch's default generator, the one that `torch.manual_seed` sets.
        residual: A tensor of the shape, dtype and device of `x`, or None.

    Returns:
        A contiguous tensor of the shape and dtype of `x`, computed in float32 and rounded once. As in PyTorch, a
            dropped element counts as a product with zero: NaN and infinities become NaN.

    Raises:
        TypeError: `x` is not a tensor or has another dtype, `residual` has another dtype than `x`, `p` is not a number, or
            `seed` is not an int.
        ValueError: `p` or `seed` is out of range, `residual` has another shape or device than `x`, or a CPU tensor
            came while Triton's interpreter is off.

    Differentiable in `x` and `residual`, any number of times. The backward pass draws the mask again; none is stored.

    Bytes:
        For n elements of e bytes, ne read and ne written, forward and backward; ne more read for a residual. Inputs that are
        not contiguous are copied first.

    Flops:
        A multiplication for each element, and about ten 32-bit integer operations to draw its bits.

    Source:
        N. Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", JMLR 15, 2014; random
        bits after J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    """
    check_float_tensor("x", x)
    check_probability("p", p)
    if residual is not None:
        check_like("residual", residual, "x", x)
    if seed is None:
        seed = int(torch.randint(2**63 - 1, ()))
    check_seed("seed", seed)
    if torch.is_grad_enabled() and (x.requires_grad or (residual is not None and residual.requires_grad)):
        return Dropout.apply(x, p, seed, residual)
    return dropout_forward(x, p, seed, residual)


def dropout_reference(
    x: torch.Tensor, p: float = 0.5, seed: int | None = None, residual: torch.Tensor | None = None
) -> torch.Tensor:
    """The same operation in plain PyTorch, the random bits included."""
    seed = int(torch.randint(2**63 - 1, ())) if seed is None else seed
    bits = philox_reference(seed, x.numel(), x.device).view(x.shape)
    kept = bits >= min(round(p * 2**32), 2**32 - 1) - 2**31
    y = x.float() * kept * (1 / (1 - p) if p < 1 else 0.0)
    return (y if residual is None else y + residual.float()).to(x.dtype)
