"""RMS norm: every row is scaled to a mean square of 1, then stretched by a weight. Layer norm without the mean.

    y[i] = x[i] * rstd * weight[i],    rstd = 1 / sqrt(sum_j x[j]^2 / n + eps)

For n elements of e bytes the forward pass reads ne bytes and writes ne; the backward pass reads 2ne and writes ne. Forward
takes about 4 floating-point operations an element, backward about 10, so the memory sets the time.

The kernels are those of layer norm, told not to center the rows: `kernels.norm.forward` and `kernels.norm.backward`, and
`kernels.norm.forward_split` for few and very long rows.
"""

import torch

from kernels.norm.norm import Norm, check_norm_arguments, norm_forward

LEAST_EPS = torch.finfo(torch.float32).eps


def rms_norm(x: torch.Tensor, weight: torch.Tensor | None = None, eps: float | None = None) -> torch.Tensor:
    """Divide every row of `x` along its last dimension by the root of its mean square, as `torch.nn.functional.rms_norm` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([[3.0, 4.0]], device=device)
        weight = torch.tensor([1.0, 10.0], device=device)
        print(kernels.rms_norm(x).cpu(), kernels.rms_norm(x, weight).cpu())
        #> tensor([[0.8485, 1.1314]]) tensor([[ 0.8485, 11.3137]])
        ```

    Args:
        x: A tensor of one dimension or more, of any shape and strides; float32, float16 or bfloat16. Rows may have any
            length.
        weight: What each element of a row is multiplied by, of shape `x.shape[-1:]`; one of the three dtypes, not
            necessarily that of `x`. None stands for ones.
        eps: Added to the mean square, so that a row of zeros stays zeros. None stands for the distance from 1 to
            the next float32, about 1.2e-7, whatever the dtype of `x`, as in PyTorch; language models often use 1e-6 or 1e-5.

    Returns:
        A tensor of the shape and dtype of `x`. The arithmetic is in float32 and rounded once, after the weight. NaN
            gives NaN along the row, an infinity NaN in its place and zeros beside it, as the formula has it.

    Raises:
        TypeError: `x` or `weight` is not a tensor or has another dtype (an integer tensor, for example), or `eps` is not
            a number.
        ValueError: `weight` is not of the size of a row or lies on another device, `x` has no dimension, or a CPU tensor
            came while Triton's interpreter is off.

    Differentiable, any number of times: the first gradients are kernels, gradients of gradients are PyTorch operations.
    The gradient of `weight` is added up in float32 in one order, so that every run gives the same bits.

    Bytes:
        For n elements of e bytes, ne read and ne written forward; 2ne read and ne written backward. Rows whose
        elements do not lie side by side are copied together first. Rows of more than 16,384 elements are read twice in
        both directions, forward the second time mostly from a cache. Where such rows are few and very long, the forward pass
        splits each over many programs, in two launches.

    Flops:
        About 4 for each element forward, 10 backward.

    Source:
        B. Zhang and R. Sennrich, "Root mean square layer normalization", 2019 (arXiv:1910.07467).
    """
    eps = LEAST_EPS if eps is None else eps
    check_norm_arguments(x, weight, None, eps)
    if torch.is_grad_enabled() and (x.requires_grad or (weight is not None and weight.requires_grad)):
        return Norm.apply(x, weight, None, eps, False)
    return norm_forward(x, weight, None, eps, False)[0]


# --8<-- [start:reference]
def rms_norm_reference(x: torch.Tensor, weight: torch.Tensor | None = None, eps: float | None = None) -> torch.Tensor:
    """The same operation in plain PyTorch."""
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return y if weight is None else y * weight
# --8<-- [end:reference]
