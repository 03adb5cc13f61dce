"""SwiGLU, the gated unit of most language models: SiLU of one tensor times another.

    y[i] = silu(gate[i]) up[i],    silu(v) = v / (1 + exp(-v))

The kernels are those of `kernels.activations.gated_unit`. For n elements of e bytes the forward pass reads 2ne bytes and writes
ne; the backward pass reads 3ne and writes 2ne.

Source: N. Shazeer, "GLU variants improve transformer", arXiv:2002.05202.
"""

import torch

from kernels.activations.gated_unit import gated_unit
from kernels.common.arguments import check_float_tensor, check_like


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Multiply SiLU of `gate` by `up`, element by element, as `torch.nn.functional.silu(gate) * up` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        gate = torch.tensor([-1.0, 0.0, 2.0], device=device)
        up = torch.tensor([1.0, 5.0, 10.0], device=device)
        print(kernels.swiglu(gate, up).cpu())
        #> tensor([-0.2689,  0.0000, 17.6159])
        ```

    Args:
        gate: A tensor of any shape and strides; float32, float16 or bfloat16.
        up: A tensor of the shape, dtype and device of `gate`.

    Returns:
        A contiguous tensor of the shape and dtype of `gate`. The arithmetic is in float32 and rounded once.

    Raises:
        TypeError: `gate` is not a tensor or has another dtype, or `up` has another dtype than `gate`.
        ValueError: `up` has another shape or device than `gate`, or a CPU tensor came while Triton's interpreter is off.

    Differentiable in both, any number of times: the first gradients are a kernel, gradients of gradients are PyTorch
    operations. The result is computed from `gate` and `up`, which are kept for it; nothing else is.

    Bytes:
        For n elements of e bytes, 2ne read and ne written forward; 3ne read and 2ne written backward. Halves of one
        matrix, split along its last dimension, are read where they lie; other inputs with gaps are copied first.

    Flops:
        About 10 for each element forward, 15 backward.

    Source:
        N. Shazeer, "GLU variants improve transformer", arXiv:2002.05202.
    """
    check_float_tensor("gate", gate)
    check_like("up", up, "gate", gate)
    return gated_unit(gate, up, "silu")


def swiglu_reference(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """The same operation in plain PyTorch, in two kernels."""
    return torch.nn.functional.silu(gate) * up
