"""GELU: each number times the probability that a normal random number lies below it.

    y[i] = x[i] P(x[i]),    P(v) = (1 + erf(v / sqrt(2))) / 2

or its approximation by a sigmoid; `kernels.activations.activation` has both, with their derivatives. For n elements of e bytes
the forward pass reads ne bytes and writes ne; the backward pass reads 2ne and writes ne. `kernels.activations.gelu_bias` adds a
bias first.

Source: D. Hendrycks and K. Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415.
"""

import torch
import triton
import triton.language as tl

from kernels.activations.activation import activated, activated_with_slope
from kernels.activations.gelu_bias import gelu_bias_backward, gelu_bias_forward
from kernels.common.arguments import check_approximate, check_float_tensor, check_row, on_device_of
from kernels.common.partial_tiles import load_partial_tile, store_partial_tile


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n_elements, KIND: tl.constexpr, BLOCK: tl.constexpr):
    # This program owns BLOCK neighboring elements, or fewer at the end.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)  # [BLOCK]
    whole = start + BLOCK <= n_elements
    x = load_partial_tile(x_ptr, offsets, n_elements, whole)  # [BLOCK]
    store_partial_tile(y_ptr, offsets, n_elements, whole, activated(x, KIND))


@triton.jit
def gelu_backward_kernel(x_ptr, dy_ptr, dx_ptr, n_elements, KIND: tl.constexpr, BLOCK: tl.constexpr):
    # This program owns BLOCK neighboring elements, or fewer at the end.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)  # [BLOCK]
    whole = start + BLOCK <= n_elements
    x = load_partial_tile(x_ptr, offsets, n_elements, whole)  # [BLOCK]
    dy = load_partial_tile(dy_ptr, offsets, n_elements, whole)  # [BLOCK]
    _, slope = activated_with_slope(x, KIND)
    store_partial_tile(dx_ptr, offsets, n_elements, whole, dy * slope)


def gelu_flat(x: torch.Tensor, y: torch.Tensor, kind: str = "none") -> torch.Tensor:
    n_elements = x.numel()
    grid = ((n_elements + 1023) // 1024,)
    gelu_kernel[grid](x, y, n_elements, KIND=kind, BLOCK=1024, num_warps=4)
    return y


def gelu_flat_backward(x: torch.Tensor, dy: torch.Tensor, dx: torch.Tensor, kind: str = "none") -> torch.Tensor:
    n_elements = x.numel()
    grid = ((n_elements + 1023) // 1024,)
    # The branch for the last program would take more registers than leave room for 64 warps.
    limit = {"maxnreg": 32} if n_elements % 16 else {}
    gelu_backward_kernel[grid](x, dy, dx, n_elements, KIND=kind, BLOCK=1024, num_warps=4, **limit)
    return dx


def gelu_forward(x: torch.Tensor, bias: torch.Tensor | None, kind: str) -> torch.Tensor:
    if x.is_neg():
        x = x.resolve_neg()
    if bias is not None and not x.is_contiguous():
        x = x.contiguous()
    # Without a bias the kernel walks memory in order, which is right for any layout that both tensors share.
    y = torch.empty_like(x)
    if x.stride() != y.stride():
        x = x.contiguous()
        y = torch.empty_like(x)
    if x.numel() == 0:
        return y
    with on_device_of(x):
        return gelu_flat(x, y, kind) if bias is None else gelu_bias_forward(x, bias, y, kind)


def gelu_backward(
    x: torch.Tensor, bias: torch.Tensor | None, dy: torch.Tensor, kind: str
) -> tuple[torch.Tensor, torch.Tensor | None]:
    x, dy = x.resolve_neg(), dy.resolve_neg()
    dx = torch.empty_like(x)
    if bias is not None or not x.stride() == dy.stride() == dx.stride():
        x, dy = x.contiguous(), dy.contiguous()
        dx = torch.empty_like(x)
    if x.numel() == 0:
        return dx, None if bias is None else torch.zeros_like(bias)
    with on_device_of(x):
        if bias is None:
            return gelu_flat_backward(x, dy, dx, kind), None
        return dx, gelu_bias_backward(x, bias, dy, dx, kind)


class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bias, kind):
        ctx.kind = kind
        ctx.save_for_backward(x, bias)
        return gelu_forward(x, bias, kind)

    @staticmethod
    def backward(ctx, dy):
        x, bias = ctx.saved_tensors
        if not torch.is_grad_enabled():
            return *gelu_backward(x, bias, dy, ctx.kind), None
        # Somebody differentiates this gradient in turn: PyTorch's own operations know how.
        z = x.float() if bias is None else x.float() + bias.float()
        dz = torch.ops.aten.gelu_backward(dy.float(), z, approximate=ctx.kind)
        return dz.to(x.dtype), None if bias is None else dz.sum_to_size(bias.shape).to(bias.dtype), None


def gelu(x: torch.Tensor, bias: torch.Tensor | None = None, approximate: str = "none") -> torch.Tensor:
    """Apply GELU to each element of `x`, or of `x + bias`, as `torch.nn.functional.gelu` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([[-1.0, 0.0, 2.0]], device=device)
        bias = torch.tensor([1.0, 0.0, -1.0], device=device)
        print(kernels.gelu(x).cpu(), kernels.gelu(x, bias, approximate="tanh").cpu())
        #> tensor([[-0.1587,  0.0000,  1.9545]]) tensor([[0.0000, 0.0000, 0.8412]])
        ```

    Args:
        x: A tensor of any shape and strides; float32, float16 or bfloat16.
        bias: A vector as long as the last dimension of `x`, of its dtype and device, added before; or None.
        approximate: "none" for the definition by the error function, "tanh" for the usual approximation.

    Returns:
        A tensor of the shape and dtype of `x`. The arithmetic, the addition of the bias included, is in float32 and
            rounded once.

    Raises:
        TypeError: `x` is not a tensor or has another dtype, `bias` has another dtype than `x`, or `approximate` is not a string.
        ValueError: `bias` has another shape or device, `approximate` is neither of the two, or a CPU tensor came
            while Triton's interpreter is off.

    Differentiable, any number of times: the first gradients are kernels, gradients of gradients are PyTorch operations. The
    gradient of the bias is summed in float32 in an order that does not change from run to run.

    Bytes:
        For n elements of e bytes, ne read and ne written forward, 2ne read and ne written backward. Where a bias came, or
        where the elements have gaps between them, inputs that are not contiguous are copied first.

    Flops:
        About 15 for each element forward, 20 backward.

    Source:
        D. Hendrycks and K. Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415.
    """
    check_float_tensor("x", x)
    check_approximate("approximate", approximate)
    if bias is not None:
        check_row("bias", bias, "x", x)
    if torch.is_grad_enabled() and (x.requires_grad or (bias is not None and bias.requires_grad)):
        return Gelu.apply(x, bias, approximate)
    return gelu_forward(x, bias, approximate)


def gelu_reference(x: torch.Tensor, bias: torch.Tensor | None = None, approximate: str = "none") -> torch.Tensor:
    """The same operation in plain PyTorch, in one kernel or two."""
    return torch.nn.functional.gelu(x if bias is None else x + bias, approximate=approximate)
