"""Layer norm: every row is moved to mean 0 and scaled to variance 1, then stretched by a weight and moved by a bias.

    y[i] = (x[i] - mean) * rstd * weight[i] + bias[i]
    mean = sum_j x[j] / n,    rstd = 1 / sqrt(sum_j (x[j] - mean)^2 / n + eps)

For n elements of e bytes the forward pass reads ne bytes and writes ne; the backward pass reads 2ne and writes ne. The
weight and the bias are small beside them. Forward takes about 8 floating-point operations an element, backward about
14, so the memory sets the time.

The kernels, which RMS norm shares, are those of `kernels.norm.forward` and `kernels.norm.backward`; long rows have theirs
in the files whose names end in `long`, and few and very long ones in `kernels.norm.forward_split`.
"""

import torch

from kernels.norm.norm import Norm, check_norm_arguments, norm_forward


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor | None = None, bias: torch.Tensor | None = None, eps: float = 1e-5
) -> torch.Tensor:
    """Normalize every row of `x` along its last dimension, as `torch.nn.functional.layer_norm` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([[1.0, 2.0, 3.0]], device=device)
        print(kernels.layer_norm(x).cpu(), kernels.layer_norm(x, bias=torch.ones(3, device=device)).cpu())
        #> tensor([[-1.2247,  0.0000,  1.2247]]) tensor([[-0.2247,  1.0000,  2.2247]])
        ```

    Args:
        x: A tensor of one dimension or more, of any shape and strides; float32, float16 or bfloat16. Rows may have any
            length.
        weight: What each element of a row is multiplied by, of shape `x.shape[-1:]`; one of the three dtypes, not
            necessarily that of `x`. None stands for ones.
        bias: What is added to each element of a row, likewise. None stands for zeros.
        eps: Added to the variance, so that a constant row becomes zeros and not NaN.

    Returns:
        A tensor of the shape and dtype of `x`. The arithmetic is in float32 and rounded once. NaN and infinities give
            NaN along the row, as in PyTorch. A row whose variance passes the range of float32 becomes zeros, before the
            weight and the bias.

    Raises:
        TypeError: `x`, `weight` or `bias` is not a tensor or has another dtype (an integer tensor, for example), or `eps`
            is not a number.
        ValueError: `weight` or `bias` is not of the size of a row or lies on another device, `x` has no dimension, or a
            CPU tensor came while Triton's interpreter is off.

    Differentiable, any number of times: the first gradients are kernels, gradients of gradients are PyTorch operations.
    The gradients of `weight` and `bias` are added up in float32 in one order, so that every run gives the same bits.

    Bytes:
        For n elements of e bytes, ne read and ne written forward; 2ne read and ne written backward. Rows whose
        elements do not lie side by side are copied together first. Rows of more than 16,384 elements are read twice in
        both directions, forward the second time mostly from a cache. Where such rows are few and very long, the forward pass
        splits each over many programs, in two launches.

    Flops:
        About 8 for each element forward, 14 backward.

    Source:
        J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer normalization", 2016 (arXiv:1607.06450).
    """
    check_norm_arguments(x, weight, bias, eps)
    differentiable = x.requires_grad or (weight is not None and weight.requires_grad) or (bias is not None and bias.requires_grad)
    if differentiable and torch.is_grad_enabled():
        return Norm.apply(x, weight, bias, eps, True)
    return norm_forward(x, weight, bias, eps, True)[0]


# --8<-- [start:reference]
def layer_norm_reference(
    x: torch.Tensor, weight: torch.Tensor | None = None, bias: torch.Tensor | None = None, eps: float = 1e-5
) -> torch.Tensor:
    """The same operation in plain PyTorch."""
    centered = x - x.mean(-1, keepdim=True)
    y = centered * torch.rsqrt(centered.square().mean(-1, keepdim=True) + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias
# --8<-- [end:reference]
